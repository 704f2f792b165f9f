import Foundation
import Tokens
import Wire

/// For whom alone an invite to a list is, as an HMAC: by it one finds what waits for somebody, and of each inviter
/// only one is open.
enum InviteeHash {
  static func of(_ user: UserID, under keys: DataKeys) -> [[UInt8]] { digests(of: "user \(user)", keys) }

  /// Of whoever proves the address, however it is written.
  static func of(_ email: String, under keys: DataKeys) -> [[UInt8]] { digests(of: "email \(canonical(email))", keys) }

  /// The newest key's first.
  private static func digests(of text: String, _ keys: DataKeys) -> [[UInt8]] {
    keys.digests(of: Data(text.utf8), purpose: "invitee")
  }

  /// In lower case, the domain in ASCII.
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
