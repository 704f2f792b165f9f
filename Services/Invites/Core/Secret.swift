import Foundation
import Tokens
import Wire

/// What opens an invite: the token of a link, or a code that people type. The database only ever sees an HMAC of it.
///
/// In text that is made of it, a log line for instance, it is hidden.
struct Secret: Sendable, Hashable {
  let text: String

  /// For links that apps pass on: 192 random bits.
  static func token() -> Secret {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<24).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    return Secret(text: tokenPrefix + Base64URL.encode(bytes))
  }

  /// For texts: six characters, which are good for days, so that tries have to be counted.
  static func textCode() -> Secret { code(Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), 6) }

  /// For links that people read out: eight of the letters and digits that nobody takes for another.
  static func linkCode() -> Secret { code(Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789"), linkCodeLength) }

  static let linkCodeLength = 8

  private static func code(_ letters: [Character], _ count: Int) -> Secret {
    var generator = SystemRandomNumberGenerator()
    return Secret(text: String((0..<count).map { _ in letters[Int.random(in: letters.indices, using: &generator)] }))
  }

  private init(text: String) { self.text = text }

  /// As an app presents it. nil for what no token looks like.
  init?(token: String) {
    let text = token.trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.hasPrefix(Self.tokenPrefix), text.utf8.count <= 64,
      text.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") })
    else { return nil }
    self.text = text
  }

  /// As somebody typed it, in either case. nil for what no code looks like.
  init?(code: String) {
    let text = code.trimmingCharacters(in: .whitespacesAndNewlines).uppercased()
    guard [6, Self.linkCodeLength].contains(text.utf8.count), text.utf8.allSatisfy(\.isLetterOrDigit) else {
      return nil
    }
    self.text = text
  }

  private static let tokenPrefix = "inv_"

  /// What to keep of it.
  func digest(under keys: DataKeys) -> [UInt8] { digests(under: keys)[0] }

  /// What may have been kept of it, under any of the keys: the newest key's first, of which there always is one.
  func digests(under keys: DataKeys) -> [[UInt8]] { keys.digests(of: Data(text.utf8), purpose: "invite") }
}

extension Secret: CustomStringConvertible {
  var description: String { "******" }
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
  }
}
