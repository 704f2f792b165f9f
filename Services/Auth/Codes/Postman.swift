import Database
import Foundation
import Messages
import Outbox
import Wire

/// A text message as it waits in the outbox.
struct TextMessage: Codable, Sendable {
  static let kind = "text"

  let number: String
  let text: String

  /// Sends it; what the provider will never take is given up.
  static func delivery(_ messages: any Messages) -> Delivery {
    // A code is good for minutes: later than that the message would only confuse.
    Delivery(kind, giveUpAfter: .seconds(600)) { post in
      let message = try post.decode(TextMessage.self)
      guard let number = PhoneNumber(message.number) else { throw Undeliverable("not a number") }
      do { try await messages.send(message.text, to: number) } catch let failure as MessageFailure {
        guard failure.isWorthAnotherTry else { throw Undeliverable("\(failure)") }
        if let wait = failure.retryAfter { throw TryLater(after: wait) }
        throw failure
      }
    }
  }
}

/// A mail with a code, and perhaps a link, as it waits in the outbox.
struct CodeMail: Codable, Sendable {
  static let kind = "mail"
  /// One that nobody is to have.
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

  static func delivery(_ mail: any Mail, app: String, database: any Database) -> Delivery {
    Delivery(kind, timeout: .seconds(40), giveUpAfter: .seconds(3600)) { post in
      let message = try post.decode(CodeMail.self)
      guard let address = EmailAddress(message.address) else { throw Undeliverable("not an address") }
      // It may have waited: Apple's word of a moment ago counts.
      let isSwitchedOff = try await database.read { db in try AppleIdentityStore.isSwitchedOff(address, on: db) }
      guard !isSwitchedOff else { throw Undeliverable("switched off at Apple's relay") }
      do {
        try await mail.send(message.letter(to: address, app: app, id: UUID(uuidString: post.id) ?? UUID()))
      } catch let failure as MailFailure {
        guard failure.isWorthAnotherTry else { throw Undeliverable("\(failure)") }
        throw failure
      }
    }
  }

  /// Forgets it: it was only written so that it took as long as one that is sent.
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

  /// Whoever is asked once more reads what for: somebody else may have asked.
  private var intro: String {
    Challenge.Kind(rawValue: kind) == .reauthentication ? "Your code to \(purpose):" : "Your code:"
  }

  func letter(to address: EmailAddress, app: String, id: UUID) -> Letter {
    let terms = """
      \(link == nil ? "It is" : "Both are") good for an hour, and for one time. If you have not asked for this, ignore \
      this mail: nothing happens without the code.
      """
    var letter = Letter(
      to: address, subject: "\(code) is your code for \(app)",
      text: """
        \(intro) \(code)
        \(link.map { "\nOr open this page to \(purpose):\n\($0)\n" } ?? "")
        \(terms)
        """)
    letter.html = """
      <!doctype html><html lang="en"><body style="font:16px/1.5 -apple-system,system-ui,sans-serif">
      <p>\(intro)</p><p style="font-size:32px;letter-spacing:4px"><strong>\(code)</strong></p>
      \(link.map { "<p>Or <a href=\"\($0)\">open this page to \(purpose)</a>.</p>" } ?? "")
      <p style="color:#666">\(terms)</p></body></html>
      """
    letter.id = id
    return letter
  }
}
