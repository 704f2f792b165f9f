import Foundation
import Web

/// A Twilio account and the sender of its messages.
package struct TwilioAccount: Sendable {
  let url: String
  let authorization: String
  /// The form field that names the sender, and its value.
  let sender: (name: String, value: String)

  /// - Parameter sender: a phone number, a short code, a name, or the id of a messaging service (`MG…`).
  /// - Throws: ``StartFailure`` that names the variable.
  init(base: String, id: String, token: String, sender: String, isProduction: Bool) throws {
    guard let components = URLComponents(string: base), let host = components.host, !host.isEmpty,
      ["https", "http"].contains(components.scheme), components.query == nil, components.user == nil
    else { throw StartFailure("TWILIO_BASE_URL must be an https URL") }
    if isProduction, components.scheme != "https", !WebAddress.isLoopback(host: host) {
      throw StartFailure("TWILIO_BASE_URL must be an https URL in production: it is sent TWILIO_AUTH_TOKEN")
    }
    guard id.hasPrefix("AC"), id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
      throw StartFailure("TWILIO_ACCOUNT_SID must begin with AC")
    }
    let root = base.hasSuffix("/") ? String(base.dropLast()) : base
    url = "\(root)/2010-04-01/Accounts/\(id)/Messages.json"
    authorization = "Basic " + Data("\(id):\(token)".utf8).base64EncodedString()
    self.sender = try Self.sender(sender)
  }

  private static func sender(_ text: String) throws -> (String, String) {
    let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == " ") }
    if text.hasPrefix("MG"), isPlain, text.utf8.count == 34 { return ("MessagingServiceSid", text) }
    if let number = PhoneNumber(text) { return ("From", number.text) }
    let isName = isPlain && (1...11).contains(text.utf8.count) && text.contains(where: \.isLetter)
    let isShortCode = (3...6).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && $0.isNumber }
    guard isName || isShortCode else {
      throw StartFailure(
        "TWILIO_PHONE_NUMBER must be a number with its country code, a sender's name, or a messaging service (MG…)")
    }
    return ("From", text)
  }
}

extension Settings {
  /// The configured account; nil when none of Twilio's variables is set.
  ///
  /// - Throws: ``StartFailure`` that names a variable that is missing or wrong.
  func twilioAccount() throws -> TwilioAccount? {
    let names = ["TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "TWILIO_PHONE_NUMBER"]
    let values = names.compactMap(nonempty)
    guard !values.isEmpty else { return nil }
    guard values.count == names.count else {
      let missing = names.filter { nonempty($0) == nil }.joined(separator: ", ")
      throw StartFailure("Twilio is half configured: \(missing) is not set")
    }
    return try TwilioAccount(
      base: string("TWILIO_BASE_URL", default: "https://api.twilio.com"), id: values[0], token: values[1],
      sender: values[2], isProduction: stage() == .production)
  }
}
