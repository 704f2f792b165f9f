import Foundation
import Outbox

/// A mail to an address that an account has no longer, as it waits in the outbox. Whoever has lost it to a stranger hears
/// of it by this mail only.
struct AddressNotice: Codable, Sendable {
  static let kind = "address_notice"

  let address: String

  static func delivery(_ mail: any Mail, app: String) -> Delivery {
    Delivery(kind, timeout: .seconds(40), giveUpAfter: .seconds(86_400)) { post in
      guard let address = EmailAddress(try post.decode(AddressNotice.self).address) else {
        throw Undeliverable("not an address")
      }
      do { try await mail.send(letter(to: address, app: app, id: UUID(uuidString: post.id) ?? UUID())) } catch let
        failure as MailFailure
      {
        guard failure.isWorthAnotherTry else { throw Undeliverable("\(failure)") }
        throw failure
      }
    }
  }

  static func letter(to address: EmailAddress, app: String, id: UUID) -> Letter {
    var letter = Letter(
      to: address, subject: "The address of your account at \(app) was changed",
      text: """
        Your account at \(app) has another e-mail address now. This one does not sign in to it any more.

        If it was not you who changed it, somebody else is signed in to your account: get in touch with us.
        """)
    letter.id = id
    return letter
  }
}
