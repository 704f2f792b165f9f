import Clients
import Database
import Foundation
import Support
import Testing

/// An app that knows users by phone number, as strict as its own decoder.
@Suite struct TextAppTests {
  private struct User: Decodable, Equatable {
    let id: UUID
    let phone_number: String
    let first_name: String
  }

  private struct SignedIn: Decodable {
    let access_token: String
    let refresh_token: String
    let user: User
  }

  private struct Sent: Decodable {
    let message: String
    let expires_in: Int
  }

  private struct Refreshed: Decodable {
    let access_token: String
    let refresh_token: String
  }

  private let number = "+4790123456"

  private func read<Body: Decodable>(_ type: Body.Type, _ reply: Browser.Reply) throws -> Body {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try decoder.decode(type, from: reply.body)
  }

  /// Asks and answers by the same call, as the app does.
  private func signIn(_ doors: Doors, _ count: Int, name: String? = nil) async throws -> SignedIn {
    let asked = try await doors.gateway.post("/api/auth/verify", ["phone_number": number])
    #expect(try read(Sent.self, asked).expires_in == 600)
    var body = ["phone_number": number, "code": try await doors.code(texted: number, after: count)]
    body["first_name"] = name
    return try read(SignedIn.self, try await doors.gateway.post("/api/auth/verify", body))
  }

  @Test(arguments: engines) func oneCallAsksForACodeAndTakesIt(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let first = try await signIn(doors, 0)
      #expect(first.user.phone_number == number && first.user.first_name == "")
      let named = try await signIn(doors, 1, name: "Anna Maria")
      #expect(named.user.id == first.user.id && named.user.first_name == "Anna Maria")
      let here = doors.gateway.bearing(named.access_token)
      #expect(try read(User.self, try await here.get("/api/auth/me")) == named.user)
      let path = "/api/auth/refresh?refresh_token=\(named.refresh_token)"
      let refreshed = try read(Refreshed.self, try await doors.gateway.post(path))
      #expect(refreshed.refresh_token != named.refresh_token)
      let fax = try await doors.gateway.post("/api/auth/verify", ["phone_number": number, "channel": "fax"])
      #expect(fax.status == 422)
    }
  }

  @Test(arguments: engines) func aNameIsShownToOthersAsItWasTyped(engine: Engine) async throws {
    try await withDoors(engine) { doors in
      let anna = try await signIn(doors, 0, name: "Anna Maria")
      let here = doors.gateway.bearing(anna.access_token)
      let group = try await here.post("/api/groups", ["name": "Ours", "member_phone_numbers": [String]()])
      let members = try await here.get("/api/groups/\(group.string("id"))")["members"] as? [[String: Any]]
      #expect(members?.map { $0["first_name"] as? String } == ["Anna Maria"])
      let sent = try await here.post(
        "/api/invites/send", ["group_id": group.string("id"), "phone_numbers": ["+4790777666"]])
      #expect(sent.status == 200)
      try await eventually("the text") {
        doors.twilio.messages.contains { $0.to == "+4790777666" && $0.text.hasPrefix("Anna Maria invited you") }
      }
    }
  }

  @Test(arguments: engines) func whoHasNoNumberIsReadAllTheSame(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let user = try read(User.self, try await alice.browser.get("/api/auth/me"))
      #expect(user.phone_number == "" && user.first_name == "alice")
    }
  }

  /// A stranger who spends what texts to a prefix may cost keeps nobody out who has an account.
  @Test(arguments: engines) func othersTextsShutOutNobodyWhoHasAnAccount(engine: Engine) async throws {
    let budgets = ["SMS_PER_PREFIX_HOUR": "2", "SMS_PER_DAY": "3", "SMS_TO_ACCOUNTS_PER_DAY": "2"]
    try await withDoors(engine, budgets) { doors in
      _ = try await signIn(doors, 0)
      @Sendable func ask(_ number: String) async throws -> Int {
        try await doors.gateway.post("/api/auth/request-verification", ["phone_number": number]).status
      }
      let strangers = try await atOnce(8) { try await ask("+479012346\($0)") }
      #expect(strangers.filter { $0 == 200 }.count == 1 && strangers.filter { $0 == 429 }.count == 7)
      _ = try await signIn(doors, 1)
      #expect(try await ask("+4670123456") == 200)
      // In all there are no more for numbers of nobody.
      #expect(try await ask("+4670123457") == 429)
      _ = try await signIn(doors, 2)
      // What goes to those who have accounts is bounded, too.
      doors.stack.clock.advance(by: .seconds(3601))
      #expect(try await ask(number) == 429)
    }
  }
}
