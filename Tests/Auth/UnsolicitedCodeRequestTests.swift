import Database
import Foundation
import Support
import Testing

/// Requests for a code to another user's address or number have no effect on that user's account.
@Suite struct UnsolicitedCodeRequestTests {
  typealias Session = SupabaseSwift.Session
  private static let plantedMetadata: [String: any Sendable] = ["data": ["display_name": "Mallory", "team": "red"]]

  @Test(arguments: engines) func whatIsSaidInARequestCountsOnlyWhereItMakesTheAccount(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      func answer(_ address: [String: any Sendable], _ type: String, _ code: String) async throws -> Session {
        let body = address.merging(["type": type, "token": code]) { $1 }
        return try await app.call(.POST, "verify", body, as: Session.self)
      }
      let email: [String: any Sendable] = ["email": "alice@example.com"]
      let phone: [String: any Sendable] = ["phone": "4790123456"]
      _ = try await app.call(.POST, "otp", email, as: SupabaseSwift.Sent.self)
      let alice = try await answer(email, "email", try await auth.receivedMail(to: "alice@example.com").code)
      _ = try await app.call(.POST, "otp", phone, as: SupabaseSwift.Sent.self)
      let bob = try await answer(phone, "sms", try await auth.code(texted: "+4790123456"))
      for address in [email, phone] {
        let body = address.merging(Self.plantedMetadata) { $1 }
        _ = try await app.call(.POST, "otp", body, as: SupabaseSwift.Sent.self)
      }
      let back = try await answer(email, "email", try await auth.receivedMail(to: "alice@example.com", after: 1).code)
      #expect(back.user.id == alice.user.id && back.user.userMetadata == [:])
      let again = try await answer(phone, "sms", try await auth.code(texted: "+4790123456", after: 1))
      #expect(again.user.id == bob.user.id && again.user.userMetadata == [:])
      // Where the code creates the account, the metadata is stored.
      let carol: [String: any Sendable] = ["email": "carol@example.com"]
      _ = try await app.call(.POST, "otp", carol.merging(Self.plantedMetadata) { $1 }, as: SupabaseSwift.Sent.self)
      let made = try await answer(carol, "email", try await auth.receivedMail(to: "carol@example.com").code)
      #expect(made.user.userMetadata?["team"] == .string("red"))
      #expect(made.user.userMetadata?["display_name"] == .string("Mallory"))
    }
  }

  @Test(arguments: engines) func aLaterRequestMakesNoEarlierCodeUseless(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      _ = try await app.call(.POST, "otp", ["email": "alice@example.com"], as: SupabaseSwift.Sent.self)
      let hers = try await auth.receivedMail(to: "alice@example.com")
      for count in 1...3 {
        _ = try await app.call(.POST, "otp", ["email": "alice@example.com"], as: SupabaseSwift.Sent.self)
        _ = try await auth.receivedMail(to: "alice@example.com", after: count)
      }
      let body = ["type": "email", "email": "alice@example.com", "token": hers.code]
      #expect(try await app.call(.POST, "verify", body, as: Session.self).user.email == "alice@example.com")
      #expect(try await app.refusal(.POST, "verify", body).code == "otp_expired")
      _ = try await app.call(.POST, "otp", ["phone": "4790123456"], as: SupabaseSwift.Sent.self)
      let first = try await auth.code(texted: "+4790123456")
      _ = try await app.call(.POST, "resend", ["type": "sms", "phone": "4790123456"], as: SupabaseSwift.Sent.self)
      _ = try await auth.code(texted: "+4790123456", after: 1)
      let text = ["type": "sms", "phone": "4790123456", "token": first]
      #expect(try await app.call(.POST, "verify", text, as: Session.self).user.phone == "4790123456")
    }
  }

  /// Any number of open codes have five tries together from one client address.
  @Test(arguments: engines) func manyOpenCodesAreNotEasierToGuess(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      var codes: [String] = []
      for count in 0..<3 {
        _ = try await app.call(.POST, "otp", ["email": "alice@example.com"], as: SupabaseSwift.Sent.self)
        codes.append(try await auth.receivedMail(to: "alice@example.com", after: count).code)
      }
      var wrong = 0
      var tries = 0
      while tries < 5 {
        let guess = String(String(1_000_000 + wrong).dropFirst())
        wrong += 1
        guard !codes.contains(guess) else { continue }
        tries += 1
        let body = ["type": "email", "email": "alice@example.com", "token": guess]
        #expect(try await app.refusal(.POST, "verify", body).code == "otp_expired")
      }
      for code in codes {
        let body = ["type": "email", "email": "alice@example.com", "token": code]
        #expect(try await app.refusal(.POST, "verify", body).code == "otp_expired")
      }
    }
  }

  /// Two accounts may have a pending change to the same address.
  @Test(arguments: engines) func whoAlsoWantsAnAddressDoesNotKeepItFromItsReader(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let alice = try await app.signUp("alice")
      let mallory = try await app.signUp("mallory")
      let new: [String: any Sendable] = ["email": "new@example.com"]
      _ = try await app.signedIn(alice).call(.PUT, "user", new, as: SupabaseSwift.User.self)
      let hers = try await auth.receivedMail(to: "new@example.com")
      _ = try await app.signedIn(mallory).call(.PUT, "user", new, as: SupabaseSwift.User.self)
      let other = try await auth.receivedMail(to: "new@example.com", after: 1)
      let body = ["type": "email_change", "email": "new@example.com", "token": hers.code]
      #expect(try await app.signedIn(mallory).refusal(.POST, "verify", body).code == "otp_expired")
      #expect(try await app.call(.POST, "verify", body, as: Session.self).user.id == alice.user.id)
      let late = body.merging(["token": other.code]) { $1 }
      if other.code != hers.code {
        #expect(try await app.refusal(.POST, "verify", late).code == "email_exists")
      }
    }
  }

  @Test(arguments: engines) func whoWantsNoNewAccountLearnsNothingAndNothingIsSent(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let unknown: [[String: any Sendable]] = [
        ["email": "nobody@example.com", "create_user": false], ["phone": "4790123456", "create_user": false],
      ]
      for body in unknown {
        let sent = try await app.call(.POST, "otp", body, as: SupabaseSwift.Sent.self)
        #expect(sent.messageId == nil)
      }
      // The same rows are written whether or not the account exists, and nothing is sent.
      #expect(try await auth.count("challenge") == 2)
      #expect(try await auth.count("outbox where kind <> 'mail_withheld'") == 0)
      let guess = ["type": "email", "email": "nobody@example.com", "token": "123456"]
      #expect(try await app.refusal(.POST, "verify", guess).code == "otp_expired")
    }
  }
}
