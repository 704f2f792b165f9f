import Database
import Foundation
import Support

/// All services, with a Twilio server and a mail server on loopback.
struct AuthFixture: Sendable {
  let stack: TestStack
  let twilio: TwilioServer
  let mail: MailServer

  var gateway: Browser { stack.gateway }

  /// The code in the last SMS to a number, once more than `count` have arrived.
  func code(texted number: String, after count: Int = 0) async throws -> String {
    try await eventually("a text to \(number)") { twilio.messages.filter { $0.to == number }.count > count }
    return Self.digits(twilio.messages.last { $0.to == number }?.text ?? "")
  }

  /// The code and the link in the last mail to an address, once more than `count` have arrived.
  func receivedMail(to address: String, after count: Int = 0) async throws -> (code: String, link: String) {
    try await eventually("a mail to \(address)") {
      mail.messages.filter { $0.to == [address] }.count > count
    }
    let text = mail.messages.last { $0.to == [address] }?.part("text/plain") ?? ""
    let link = text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("http") }.map(String.init) ?? ""
    return (Self.digits(text), link)
  }

  /// The token in a mailed link.
  static func token(of link: String) -> String { link.components(separatedBy: "token_hash=").last ?? "" }

  /// The page that a mailed link opens.
  func openLink(_ link: String) async throws -> Browser.Reply {
    try await gateway.get(String(link.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }))
  }

  /// Submits the form of the page that a mailed link opens.
  ///
  /// - Parameters:
  ///   - link: the link or its token.
  ///   - fields: more fields of the form, encoded, with a leading `&`.
  func submitLink(_ link: String, adding fields: String = "") async throws -> Browser.Reply {
    try await gateway.with(["Content-Type": "application/x-www-form-urlencoded"])
      .send(.POST, "/auth/v1/verify", body: Data("token_hash=\(Self.token(of: link))\(fields)".utf8))
  }

  /// How many mails an address has received.
  func mailCount(to address: String) -> Int { mail.messages.filter { $0.to == [address] }.count }

  private static func digits(_ text: String) -> String {
    text.firstMatch(of: /\b\d{6}\b/).map { String($0.output) } ?? ""
  }

  /// Signs up with an address and a password.
  func signUp(_ name: String, password: String = "correct horse") async throws -> Browser.Reply {
    try await gateway.post(
      "/api/v1/auth/sign_up", ["user": ["email": "\(name)@example.com", "password": password, "name": name]])
  }

  /// The number of rows of a table of auth's, which may be followed by a `where`.
  func count(_ table: String) async throws -> Int {
    try await stack.count(SQL(stringLiteral: table), in: "auth")
  }
}

func withAuthFixture(
  _ engine: Engine, _ overrides: [String: String] = [:], _ body: (AuthFixture) async throws -> Void
) async throws {
  try await withTwilio { twilio in
    try await withMailServer(.none) { mail in
      let settings = twilio.settings.merging(mail.settings) { $1 }.merging(
        ["SMS_PER_ADDRESS_HOUR": "1000"].merging(overrides) { $1 }
      ) { $1 }
      try await withStack(engine, settings) { stack in
        try await body(AuthFixture(stack: stack, twilio: twilio, mail: mail))
      }
    }
  }
}
