import Foundation
import Outbox

/// The notice that is mailed to an account's previous address after a change: the content of an outbox message. It is
/// the only warning that the user has when somebody else made the change.
struct AddressChangedMail: Codable, Sendable {
  static let kind = "address_notice"

  let address: String

  static func delivery(_ mailSender: any MailSender, app: String) -> Delivery {
    Delivery(kind, timeout: .seconds(40), giveUpAfter: .seconds(86_400)) { message in
      guard let address = EmailAddress(try message.decode(AddressChangedMail.self).address) else {
        throw Undeliverable("not an address")
      }
      try await mailSender.send(mail(to: address, app: app, id: UUID(uuidString: message.id) ?? UUID()))
    }
  }

  static func mail(to address: EmailAddress, app: String, id: UUID) -> MailMessage {
    var message = MailMessage(
      to: address, subject: "The address of your account at \(app) was changed",
      text: """
        Your account at \(app) has another e-mail address now. This one does not sign in to it any more.

        If it was not you who changed it, somebody else is signed in to your account: get in touch with us.
        """)
    message.id = id
    return message
  }
}
