import Foundation
import Tokens

/// Six digits that are sent to a phone or an address, and typed by whoever holds it. The database only ever sees an HMAC:
/// of a plain digest a million tries would find the code.
///
/// In text that is made of it, a log line for instance, it is hidden.
struct OneTimeCode: Sendable, Hashable {
  let text: String

  private static let digits = 6

  /// Every code is as likely as any other.
  static func new() -> OneTimeCode {
    var generator = SystemRandomNumberGenerator()
    let number = Int.random(in: 1_000_000...1_999_999, using: &generator)
    return OneTimeCode(text: String(String(number).dropFirst()))
  }

  /// As somebody typed it, or had it pasted: `123456`, `123 456`, `123-456`. nil for what no code looks like.
  init?(typed: String) {
    guard typed.utf8.count <= 32 else { return nil }
    let text = typed.filter { !$0.isWhitespace && $0 != "-" }
    guard text.utf8.count == Self.digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    self.init(text: text)
  }

  private init(text: String) { self.text = text }

  /// What to keep of a code.
  ///
  /// - Parameter subject: whom the code was sent to and for what, so that it counts for nothing else.
  func digest(for subject: String, under keys: DataKeys) -> [UInt8] { digests(for: subject, under: keys)[0] }

  /// Whether `digest` was kept of this code for this subject, under any of the keys; takes the same time for every answer.
  func matches(_ digest: [UInt8], for subject: String, under keys: DataKeys) -> Bool {
    digests(for: subject, under: keys).reduce(false) { Self.equal($1, digest) || $0 }
  }

  /// The newest key's first, of which there always is one. Digits have one length, so that no subject can end in some.
  private func digests(for subject: String, under keys: DataKeys) -> [[UInt8]] {
    keys.digests(of: Data((subject + "\n" + text).utf8), purpose: "one-time code")
  }

  private static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    zip(left, right).reduce(UInt8(left.count == right.count ? 0 : 1)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension OneTimeCode: CustomStringConvertible {
  var description: String { "******" }
}
