import Crypto
import Foundation

/// The secret part of a mailed link: 256 random bits, of which the database stores the digest only.
struct MailLinkToken: Sendable {
  let text: String

  init(presented text: String) { self.text = text }

  static func new() -> MailLinkToken { MailLinkToken(presented: RefreshToken.new().text) }

  var hash: [UInt8] { Array(SHA256.hash(data: Data(text.utf8))) }
}
