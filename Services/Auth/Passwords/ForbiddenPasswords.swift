import Crypto
import Foundation
import Web

/// Passwords that are guessed first, and that nobody may choose (`PASSWORDS_FORBIDDEN`), upper and lower case alike.
///
/// A list may be long: eight bytes of a digest are kept of each.
struct ForbiddenPasswords: Sendable {
  /// Ascending.
  private let digests: [UInt64]

  /// - Throws: ``StartFailure`` when the file cannot be read.
  init(file path: String) throws {
    // `try?`: why it cannot be read is the same to whoever started this.
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
      throw StartFailure("PASSWORDS_FORBIDDEN is not a file that can be read")
    }
    self.init(data.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { String(decoding: $0, as: UTF8.self) })
  }

  init(_ passwords: some Sequence<String>) {
    digests = passwords.compactMap(Password.prepared).map(Self.digest).sorted()
  }

  func contains(_ password: String) -> Bool {
    let wanted = Self.digest(password)
    var range = digests.indices
    while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
      if digests[middle] == wanted { return true }
      range = digests[middle] < wanted ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
    }
    return false
  }

  private static func digest(_ password: String) -> UInt64 {
    let folded = password.lowercased().precomposedStringWithCanonicalMapping
    return SHA256.hash(data: Data(folded.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
