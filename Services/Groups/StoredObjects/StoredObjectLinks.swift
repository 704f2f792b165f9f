import Foundation
import Tokens
import Wire

/// Makes and checks the tokens with which a file can be read without a bearer token (HMAC-SHA256). A token is for the
/// user who asked for it: it ends when that user may not read the file any more.
struct StoredObjectLinks: Sendable {
  private let digester: DataKeys.Digester

  /// In seconds: a year.
  static let lifetimeMax = 31_536_000

  init(keys: DataKeys) { digester = keys.digester(for: "stored object link") }

  /// The path below `/storage/v1`, as clients expect it.
  func path(to name: StoredObjectName, for viewer: UserID, until end: Date) -> String {
    let seconds = Int64(clamping: Int(end.timeIntervalSince1970.rounded(.down)))
    let digest = digester.digests(of: Self.content(name, viewer, seconds)).first ?? []
    return "/object/sign/\(name)?token=\(seconds).\(viewer).\(Base64URL.encode(digest))"
  }

  /// - Returns: the user for whom the token was made, and when it ends.
  /// - Throws: 400 for a token that is invalid or has expired.
  func checked(_ token: String?, for name: StoredObjectName, at now: Date) throws(Failure) -> (UserID, end: Date) {
    let parts = (token ?? "").split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, let seconds = Int64(parts[0]), let viewer = UserID(parts[1]),
      let signature = Base64URL.decode(parts[2].utf8)
    else { throw .objectLinkInvalid }
    let digests = digester.digests(of: Self.content(name, viewer, seconds))
    let end = Date(timeIntervalSince1970: Double(seconds))
    guard digests.contains(where: { ConstantTime.areEqual($0, signature) }), now < end else {
      throw .objectLinkInvalid
    }
    return (viewer, end)
  }

  private static func content(_ name: StoredObjectName, _ viewer: UserID, _ seconds: Int64) -> Data {
    Data("\(name) \(viewer) \(seconds)".utf8)
  }
}
