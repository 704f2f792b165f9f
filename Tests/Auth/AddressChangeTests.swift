import Database
import Foundation
import Support
import Testing

/// Replacing the e-mail address or the phone number of an account.
@Suite struct AddressChangeTests {
  typealias Session = SupabaseSwift.Session
  typealias User = SupabaseSwift.User

  @Test(arguments: engines) func aNewAddressTakesThePlaceOfTheOldOneWhichIsTold(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let session = try await app.signUp("alice")
      let alice = app.signedIn(session)
      _ = try await auth.receivedMail(to: "alice@example.com")
      let asked = try await alice.call(.PUT, "user", ["email": "New@example.com"], as: User.self)
      #expect(asked.email == "alice@example.com" && asked.newEmail == "new@example.com")
      #expect(try await alice.call(.GET, "user", as: User.self).newEmail == "new@example.com")
      let message = try await auth.receivedMail(to: "new@example.com")
      #expect(message.link.isEmpty)
      let body = ["type": "email_change", "email": "new@example.com", "token": message.code]
      // As the library sends it: without the user's bearer. The code identifies the account.
      let changed = try await app.call(.POST, "verify", body, as: Session.self)
      #expect(changed.user.id == session.user.id && changed.user.email?.lowercased() == "new@example.com")
      #expect(changed.user.newEmail == nil && changed.user.identities?.map(\.id) == ["new@example.com"])
      #expect(try await app.refusal(.POST, "verify", body).code == "otp_expired")
      try await eventually("the notice") { auth.mailCount(to: "alice@example.com") == 2 }
      let notice = auth.mail.messages.last { $0.to == ["alice@example.com"] }?.part("text/plain")
      #expect(notice?.contains("does not sign in") == true)
      let old = ["email": "alice@example.com", "password": "correct horse"]
      #expect(try await app.refusal(.POST, "token?grant_type=password", old).code == "invalid_credentials")
      #expect(try await app.signIn("new@example.com", "correct horse").user.id == session.user.id)
    }
  }

  @Test(arguments: engines) func whatIsNotConfirmedInTimeIsNotShownAnyMore(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let alice = app.signedIn(try await app.signUp("alice"))
      for (index, address) in ["first@example.com", "second@example.com"].enumerated() {
        let user = try await alice.call(.PUT, "user", ["email": address], as: User.self)
        #expect(user.newEmail == address, "\(index)")
      }
      // A second request revokes the code of the first.
      let first = try await auth.receivedMail(to: "first@example.com")
      let body = ["type": "email_change", "email": "first@example.com", "token": first.code]
      #expect(try await app.refusal(.POST, "verify", body).code == "otp_expired")
      for address in ["second@example.com", "alice@example.com", "nobody@example.com"] {
        _ = try await app.call(
          .POST, "resend", ["type": "email_change", "email": address], as: SupabaseSwift.Sent.self)
      }
      let second = try await auth.receivedMail(to: "second@example.com", after: 2)
      auth.stack.clock.advance(by: .seconds(3601))
      let late = ["type": "email_change", "email": "second@example.com", "token": second.code]
      #expect(try await app.refusal(.POST, "verify", late).code == "otp_expired")
      let again = try await app.signIn("alice@example.com", "correct horse")
      #expect(again.user.newEmail == nil && again.user.email == "alice@example.com")
    }
  }

  /// An address that another account has verified is refused at once; one that is only claimed goes to whoever verifies
  /// it.
  @Test(arguments: engines) func whatIsSomebodysIsRefusedAtOnceAndCounted(engine: Engine) async throws {
    try await withAuthFixture(engine, ["SMS_TEST_CODES": "+4790123456:424242"]) { auth in
      let app = SupabaseApp(auth.gateway)
      let alice = app.signedIn(try await app.signUp("alice"))
      let bob = app.signedIn(try await app.signUp("bob"))
      _ = try await app.call(.POST, "otp", ["phone": "4790123456"], as: SupabaseSwift.Sent.self)
      _ = try await app.call(
        .POST, "verify", ["type": "sms", "phone": "4790123456", "token": "424242"], as: Session.self)
      let mail = try await auth.receivedMail(to: "alice@example.com")
      let claimed = try await bob.call(.PUT, "user", ["email": "alice@example.com"], as: User.self)
      #expect(claimed.newEmail == "alice@example.com")
      let confirmed = ["type": "signup", "email": "alice@example.com", "token": mail.code]
      _ = try await alice.call(.POST, "verify", confirmed, as: Session.self)
      let changes: [([String: any Sendable], String)] = [
        (["email": "alice@example.com", "data": ["team": "red"]], "email_exists"),
        (["phone": "4790123456", "data": ["team": "red"]], "phone_exists"),
      ]
      for (body, code) in changes {
        let refusal = try await bob.refusal(.PUT, "user", body)
        #expect(refusal.status == 422 && refusal.code == code)
      }
      #expect(try await bob.call(.GET, "user", as: User.self).userMetadata?["team"] == nil)
      // A refused request takes the same quota as a mail.
      var statuses: [Int] = []
      for _ in 0..<6 { statuses.append(try await bob.send(.PUT, "user", ["email": "alice@example.com"]).status) }
      #expect(statuses.first == 422 && statuses.last == 429, "\(statuses)")
      _ = try await auth.receivedMail(to: "alice@example.com", after: 1)
      #expect(auth.mailCount(to: "alice@example.com") == 2)
    }
  }

  @Test(arguments: engines) func aNewNumberTakesThePlaceOfTheOldOne(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      _ = try await app.call(.POST, "otp", ["phone": "4790123456"], as: SupabaseSwift.Sent.self)
      let code = try await auth.code(texted: "+4790123456")
      let session = try await app.call(
        .POST, "verify", ["type": "sms", "phone": "4790123456", "token": code], as: Session.self)
      _ = try await app.signedIn(session).call(.PUT, "user", ["phone": "4790999999"], as: User.self)
      let first = try await auth.code(texted: "+4790999999")
      _ = try await app.call(
        .POST, "resend", ["type": "phone_change", "phone": "4790999999"], as: SupabaseSwift.Sent.self)
      let second = try await auth.code(texted: "+4790999999", after: 1)
      #expect(second.count == 6)
      let body = ["type": "phone_change", "phone": "4790999999", "token": first]
      let changed = try await app.call(.POST, "verify", body, as: Session.self)
      #expect(changed.user.id == session.user.id && changed.user.phone == "4790999999")
      // The old number belongs to no account now: signing in with it creates a new one.
      _ = try await app.call(.POST, "otp", ["phone": "4790123456"], as: SupabaseSwift.Sent.self)
      let again = try await auth.code(texted: "+4790123456", after: 1)
      let other = try await app.call(
        .POST, "verify", ["type": "sms", "phone": "4790123456", "token": again], as: Session.self)
      #expect(other.user.id != session.user.id)
    }
  }

  @Test(arguments: engines) func somebodyWhoWasNobodyHasAnAddressThen(engine: Engine) async throws {
    try await withAuthFixture(engine) { auth in
      let app = SupabaseApp(auth.gateway)
      let session = try await app.call(.POST, "signup", [:], as: Session.self)
      _ = try await app.signedIn(session).call(.PUT, "user", ["email": "alice@example.com"], as: User.self)
      let message = try await auth.receivedMail(to: "alice@example.com")
      let body = ["type": "email_change", "email": "alice@example.com", "token": message.code]
      let changed = try await app.call(.POST, "verify", body, as: Session.self)
      #expect(changed.user.id == session.user.id && changed.user.isAnonymous == false)
      #expect(changed.user.email == "alice@example.com")
    }
  }
}
