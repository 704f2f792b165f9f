import Foundation
import Tokens

/// Six digits that are sent to a phone number or an e-mail address and typed by its user. The database stores an HMAC
/// only: from a plain digest, a million tries would find the code.
///
/// Its description hides the digits, so that no log line has them.
struct OneTimeCode: Sendable, Hashable {
  let text: String

  private static let digits = 6

  /// A random code; all codes are equally likely.
  static func new() -> OneTimeCode {
    var generator = SystemRandomNumberGenerator()
    let number = Int.random(in: 1_000_000...1_999_999, using: &generator)
    return OneTimeCode(text: String(String(number).dropFirst()))
  }

  /// A code as it was typed or pasted: `123456`, `123 456`, `123-456`. nil for text that does not have the form of a
  /// code.
  init?(typed: String) {
    guard typed.utf8.count <= 32 else { return nil }
    let text = typed.filter { !$0.isWhitespace && $0 != "-" }
    guard text.utf8.count == Self.digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    self.init(text: text)
  }

  private init(text: String) { self.text = text }

  /// The HMAC to store, under the newest key.
  ///
  /// - Parameter subject: what the code was sent for; the code matches for no other subject.
  func digest(for subject: String, under keys: DataKeys) -> [UInt8] { digests(for: subject, under: keys)[0] }

  /// Whether `digest` was made from this code for this subject, under any of the keys. Compares in constant time.
  func matches(_ digest: [UInt8], for subject: String, under keys: DataKeys) -> Bool {
    digests(for: subject, under: keys).reduce(false) { ConstantTime.areEqual($1, digest) || $0 }
  }

  /// The newest key's digest first; there always is one. All codes have the same length, so that the end of a subject
  /// cannot be read as part of a code.
  private func digests(for subject: String, under keys: DataKeys) -> [[UInt8]] {
    keys.digests(of: Data((subject + "\n" + text).utf8), purpose: "one-time code")
  }
}

extension OneTimeCode: CustomStringConvertible {
  var description: String { "******" }
}
