import Foundation
import Tokens
import Wire

/// The secret of an invite: the token of a link, or a code that people type. The database stores only an HMAC of it, or
/// a sealed copy while ``NewInvite/storesSealedToken``.
///
/// Its description hides it, so that it does not appear in log lines.
struct InviteToken: Sendable, Hashable {
  let text: String

  static let linkCodeLength = 8
  private static let textCodeLength = 6
  private static let textCodeCharacters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
  private static let tokenPrefix = "inv_"
  private static let tokenBytesMax = 64

  /// A token for links that apps pass on: 192 random bits.
  static func linkToken() -> InviteToken {
    InviteToken(text: tokenPrefix + Base64URL.encode(Random.bytes(count: 24)))
  }

  /// A code for text messages: six characters, valid for days, so failed attempts must be limited.
  static func textCode() -> InviteToken {
    InviteToken(text: Random.text(count: textCodeLength, of: textCodeCharacters))
  }

  /// A code for links that people read aloud: eight letters and digits that are not easily confused.
  static func linkCode() -> InviteToken {
    InviteToken(text: Random.text(count: linkCodeLength, of: Random.unambiguousCharacters))
  }

  private init(text: String) { self.text = text }

  /// A token as an app sends it. nil when the text cannot be a token.
  init?(token: String) {
    let text = token.trimmingCharacters(in: .whitespacesAndNewlines)
    guard text.hasPrefix(Self.tokenPrefix), text.utf8.count <= Self.tokenBytesMax,
      text.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") })
    else { return nil }
    self.text = text
  }

  /// A code as a user typed it, in upper or lower case. nil when the text cannot be a code.
  init?(code: String) {
    let text = code.trimmingCharacters(in: .whitespacesAndNewlines).uppercased()
    guard [Self.textCodeLength, Self.linkCodeLength].contains(text.utf8.count),
      text.utf8.allSatisfy(\.isLetterOrDigit)
    else { return nil }
    self.text = text
  }

  /// The HMAC to store, under the newest key.
  func digest(under keys: DataKeys) -> [UInt8] { digests(under: keys)[0] }

  /// The HMACs that may be stored, one for each key, the newest key's first. There is always at least one.
  func digests(under keys: DataKeys) -> [[UInt8]] { keys.digests(of: Data(text.utf8), purpose: "invite") }
}

extension InviteToken: CustomStringConvertible {
  var description: String { "******" }
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
  }
}
