import Crypto
import Foundation
import Web

/// A list of common passwords that are rejected as new passwords (`PASSWORDS_FORBIDDEN`), compared without regard to
/// case.
///
/// To keep long lists small, only eight bytes of each password's digest are held in memory.
struct ForbiddenPasswords: Sendable {
  /// Ascending.
  private let digests: [UInt64]

  /// - Throws: ``StartFailure`` when the file cannot be read.
  init(file path: String) throws {
    // `try?`: the start fails with the same message, whatever the reason.
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
      throw StartFailure("PASSWORDS_FORBIDDEN is not a file that can be read")
    }
    self.init(data.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { String(decoding: $0, as: UTF8.self) })
  }

  init(_ passwords: some Sequence<String>) {
    digests = passwords.compactMap(Password.normalized).map(Self.digest).sorted()
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
