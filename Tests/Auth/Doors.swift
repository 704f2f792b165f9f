import Database
import Foundation
import Support

/// Everything up, with a provider of texts and a mail server beside it.
struct Doors: Sendable {
  let stack: TestStack
  let twilio: TwilioServer
  let mail: MailServer

  var gateway: Browser { stack.gateway }

  /// The code in the text that was sent last to a number.
  func code(texted number: String, after count: Int = 0) async throws -> String {
    try await eventually("a text to \(number)") { twilio.messages.filter { $0.to == number }.count > count }
    return Self.digits(twilio.messages.last { $0.to == number }?.text ?? "")
  }

  /// The code and the link in the mail that was sent last to an address.
  func letter(to address: String, after count: Int = 0) async throws -> (code: String, link: String) {
    try await eventually("a mail to \(address)") {
      mail.letters.filter { $0.to == [address] }.count > count
    }
    let text = mail.letters.last { $0.to == [address] }?.part("text/plain") ?? ""
    let link = text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("http") }.map(String.init) ?? ""
    return (Self.digits(text), link)
  }

  func letters(to address: String) -> Int { mail.letters.filter { $0.to == [address] }.count }

  private static func digits(_ text: String) -> String {
    text.firstMatch(of: /\b\d{6}\b/).map { String($0.output) } ?? ""
  }

  /// Somebody who has signed up with an address and a password.
  func signUp(_ name: String, password: String = "correct horse") async throws -> Browser.Reply {
    try await gateway.post(
      "/api/v1/auth/sign_up", ["user": ["email": "\(name)@example.com", "password": password, "name": name]])
  }

  /// How many rows of auth's there are.
  func count(_ table: String) async throws -> Int {
    let database = try await stack.place.open("auth", [])
    let table = SQL(stringLiteral: table)
    let found = try await database.read { db in
      try db.row("select count(*) as found from \(table)")?.get("found", as: Int.self) ?? -1
    }
    await database.close()
    return found
  }
}

func withDoors(
  _ engine: Engine, _ overrides: [String: String] = [:], _ body: (Doors) async throws -> Void
) async throws {
  try await withTwilio { twilio in
    try await withMailServer(.none) { mail in
      let settings = twilio.settings.merging(mail.settings) { $1 }.merging(
        ["SMS_PER_ADDRESS_HOUR": "1000"].merging(overrides) { $1 }
      ) { $1 }
      try await withStack(engine, settings) { stack in
        try await body(Doors(stack: stack, twilio: twilio, mail: mail))
      }
    }
  }
}
