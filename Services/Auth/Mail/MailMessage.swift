import Foundation

/// A mail to one recipient: the same content as plain text and, for most mails, as HTML.
struct MailMessage: Sendable {
  let to: EmailAddress
  /// The recipient's name, on one line.
  var name: String?
  /// One line.
  let subject: String
  let text: String
  var html: String?
  /// Becomes the Message-ID: the same for every attempt to send the message.
  var id = UUID()
}
