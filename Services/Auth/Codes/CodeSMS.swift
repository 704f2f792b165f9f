import Foundation
import Messages
import Outbox

/// An SMS with a one-time code: the content of an outbox message.
struct CodeSMS: Codable, Sendable {
  static let kind = "text"

  let number: String
  let text: String

  /// Sends the SMS; a message that the provider rejects permanently is given up.
  static func delivery(_ smsSender: any SMSSender) -> Delivery {
    // A code is valid for minutes: a later SMS would only confuse its recipient.
    Delivery(kind, giveUpAfter: .seconds(600)) { message in
      let sms = try message.decode(CodeSMS.self)
      guard let number = PhoneNumber(sms.number) else { throw Undeliverable("not a number") }
      try await smsSender.send(sms.text, to: number)
    }
  }
}
