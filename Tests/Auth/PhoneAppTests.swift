import Clients
import Database
import Foundation
import Support
import Testing

/// An app that identifies users by phone number, as strict as its own decoder.
@Suite struct PhoneAppTests {
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

  private struct RefreshResult: Decodable {
    let access_token: String
    let refresh_token: String
  }

  private let number = "+4790123456"

  private func read<Body: Decodable>(_ type: Body.Type, _ reply: Browser.Reply) throws -> Body {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try decoder.decode(type, from: reply.body)
  }

  /// Requests a code and signs in with it by the same endpoint, as the app does.
  private func signIn(_ auth: AuthFixture, _ count: Int, name: String? = nil) async throws -> SignedIn {
    let asked = try await auth.gateway.post("/api/auth/verify", ["phone_number": number])
    #expect(try read(Sent.self, asked).expires_in == 600)
    var body = ["phone_number": number, "code": try await auth.code(texted: number, after: count)]
    body["first_name"] = name
    return try read(SignedIn.self, try await auth.gateway.post("/api/auth/verify", body))
  }

  @Test(arguments: engines) func oneCallAsksForACodeAndTakesIt(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let first = try await signIn(auth, 0)
      #expect(first.user.phone_number == number && first.user.first_name == "")
      let named = try await signIn(auth, 1, name: "Anna Maria")
      #expect(named.user.id == first.user.id && named.user.first_name == "Anna Maria")
      let here = auth.gateway.bearing(named.access_token)
      #expect(try read(User.self, try await here.get("/api/auth/me")) == named.user)
      let path = "/api/auth/refresh?refresh_token=\(named.refresh_token)"
      let refreshed = try read(RefreshResult.self, try await auth.gateway.post(path))
      #expect(refreshed.refresh_token != named.refresh_token)
      let fax = try await auth.gateway.post("/api/auth/verify", ["phone_number": number, "channel": "fax"])
      #expect(fax.status == 422)
    }
  }

  @Test(arguments: engines) func aNameIsShownToOthersAsItWasTyped(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let anna = try await signIn(auth, 0, name: "Anna Maria")
      let here = auth.gateway.bearing(anna.access_token)
      let group = try await here.post("/api/groups", ["name": "Ours", "member_phone_numbers": [String]()])
      let members = try await here.get("/api/groups/\(group.string("id"))")["members"] as? [[String: Any]]
      #expect(members?.map { $0["first_name"] as? String } == ["Anna Maria"])
      let sent = try await here.post(
        "/api/invites/send", ["group_id": group.string("id"), "phone_numbers": ["+4790777666"]])
      #expect(sent.status == 200)
      try await eventually("the text") {
        auth.twilio.messages.contains { $0.to == "+4790777666" && $0.text.hasPrefix("Anna Maria invited you") }
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

  /// A stranger who uses up the quota of a prefix does not lock out users who have an account.
  @Test(arguments: engines) func othersTextsShutOutNobodyWhoHasAnAccount(engine: Engine) async throws {
    let budgets = ["SMS_PER_PREFIX_HOUR": "2", "SMS_PER_DAY": "3", "SMS_TO_ACCOUNTS_PER_DAY": "2"]
    try await withAuthFixture(engine, budgets) { auth in
      _ = try await signIn(auth, 0)
      @Sendable func ask(_ number: String) async throws -> Int {
        try await auth.gateway.post("/api/auth/request-verification", ["phone_number": number]).status
      }
      let strangers = try await atOnce(8) { try await ask("+479012346\($0)") }
      #expect(strangers.filter { $0 == 200 }.count == 1 && strangers.filter { $0 == 429 }.count == 7)
      _ = try await signIn(auth, 1)
      #expect(try await ask("+4670123456") == 200)
      // The quota for all numbers without an account is used up.
      #expect(try await ask("+4670123457") == 429)
      _ = try await signIn(auth, 2)
      // The quota for numbers with an account is limited, too.
      auth.stack.clock.advance(by: .seconds(3601))
      #expect(try await ask(number) == 429)
    }
  }
}
