import Foundation
import Tokens
import Wire

/// HMACs of the user or the e-mail address that a direct invite is for, to find the invites to somebody and to allow
/// only one open invite of each inviter.
enum InviteeHash {
  static func of(_ user: UserID, under keys: DataKeys) -> [[UInt8]] { digests(of: "user \(user)", keys) }

  /// For the user who has verified the address, however it is written.
  static func of(_ email: String, under keys: DataKeys) -> [[UInt8]] { digests(of: "email \(canonical(email))", keys) }

  /// One HMAC for each key, the newest key's first.
  private static func digests(of text: String, _ keys: DataKeys) -> [[UInt8]] {
    keys.digests(of: Data(text.utf8), purpose: "invitee")
  }

  /// The address in lower case, its domain in ASCII.
  private static func canonical(_ email: String) -> String {
    let text = email.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
    guard let at = text.lastIndex(of: "@") else { return text }
    let domain = String(text[text.index(after: at)...])
    guard !domain.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    var components = URLComponents()
    components.host = domain
    return text[...at] + (components.encodedHost ?? domain)
  }
}
