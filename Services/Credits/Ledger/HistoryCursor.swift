import Tokens
import Wire

/// The position of an entry in a user's history: the next page begins with the entry before it, however many have been
/// added since. Opaque to clients.
struct HistoryCursor: Sendable, Hashable {
  /// 1 or more; the oldest entry has 1.
  let position: Int

  /// The first byte of the text, so that another format can be told apart.
  private static let version: UInt8 = 1

  init(position: Int) { self.position = position }

  /// - Throws: 422 for text that this service has not encoded.
  init(_ text: String) throws(Failure) {
    guard let bytes = Base64URL.decode(Array(text.utf8)), bytes.count == 9, bytes[0] == Self.version,
      case let position = bytes.dropFirst().reduce(UInt64(0), { $0 << 8 | UInt64($1) }),
      (1...UInt64(Int64.max)).contains(position)
    else { throw .invalid(.init("cursor", "is not a cursor of this history; leave it out to start anew")) }
    self.position = Int(position)
  }

  var text: String {
    Base64URL.encode([Self.version] + withUnsafeBytes(of: UInt64(position).bigEndian, Array.init))
  }
}
