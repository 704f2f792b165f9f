import Database
import Foundation
import Outbox

/// A mail with a one-time code, and perhaps a link: the content of an outbox message.
struct CodeMail: Codable, Sendable {
  static let kind = "mail"
  /// The kind of messages that are not sent.
  static let withheldKind = "mail_withheld"

  let address: String
  let kind: String
  let code: String
  let link: String?

  init(address: String, kind: Challenge.Kind, code: String, link: String?) {
    self.address = address
    self.kind = kind.rawValue
    self.code = code
    self.link = link
  }

  static func delivery(_ mailSender: any MailSender, app: String, database: any Database) -> Delivery {
    Delivery(kind, timeout: .seconds(40), giveUpAfter: .seconds(3600)) { message in
      let mail = try message.decode(CodeMail.self)
      guard let address = EmailAddress(mail.address) else { throw Undeliverable("not an address") }
      // Checked again: the message may have waited, and Apple may have reported a change meanwhile.
      let isForwardingDisabled = try await database.read { db in
        try AppleIdentityStore.isForwardingDisabled(address, on: db)
      }
      guard !isForwardingDisabled else { throw Undeliverable("switched off at Apple's relay") }
      try await mailSender.send(mail.message(to: address, app: app, id: UUID(uuidString: message.id) ?? UUID()))
    }
  }

  /// Discards the message: it was written only so that the request takes as long as one that sends a message.
  static let withheld = Delivery(withheldKind, giveUpAfter: .seconds(3600)) { _ in }

  private var purpose: String {
    switch Challenge.Kind(rawValue: kind) {
    case .recovery: "set a new password"
    case .confirmation: "confirm your address"
    case .changeEmail: "use this address"
    case .reauthentication: "change your password"
    default: "sign in"
    }
  }

  /// A reauthentication code names its purpose: somebody other than the user may have requested it.
  private var intro: String {
    Challenge.Kind(rawValue: kind) == .reauthentication ? "Your code to \(purpose):" : "Your code:"
  }

  func message(to address: EmailAddress, app: String, id: UUID) -> MailMessage {
    let terms = """
      \(link == nil ? "It is" : "Both are") good for an hour, and for one time. If you have not asked for this, ignore \
      this mail: nothing happens without the code.
      """
    var message = MailMessage(
      to: address, subject: "\(code) is your code for \(app)",
      text: """
        \(intro) \(code)
        \(link.map { "\nOr open this page to \(purpose):\n\($0)\n" } ?? "")
        \(terms)
        """)
    message.html = """
      <!doctype html><html lang="en"><body style="font:16px/1.5 -apple-system,system-ui,sans-serif">
      <p>\(intro)</p><p style="font-size:32px;letter-spacing:4px"><strong>\(code)</strong></p>
      \(link.map { "<p>Or <a href=\"\($0)\">open this page to \(purpose)</a>.</p>" } ?? "")
      <p style="color:#666">\(terms)</p></body></html>
      """
    message.id = id
    return message
  }
}
