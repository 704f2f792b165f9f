import Database
import Foundation
import Support
import Testing

/// After an erasure the data is in no table and in no file.
@Suite struct ErasedDataTests {
  private static let secrets = [
    "alice.liddell@example.com", "Alice.Liddell", "+4790123456", "4790123456", "Liddell", "iPhone of",
    "avatar-of-alice", device, "guest-of-alice@example.com", "+4790777666",
  ]
  private static let device = String(repeating: "ab12", count: 16)

  /// Creates an account with data in as many tables as possible: a number, an address, mails, codes, a profile, calls
  /// with idempotency keys.
  private func createAccount(_ auth: AuthFixture) async throws -> Browser {
    let gateway = auth.gateway.with(["User-Agent": "iPhone of Liddell", "Idempotency-Key": "a key"])
    let signedUp = try await gateway.post(
      "/api/v1/auth/sign_up",
      ["email": "alice.liddell@example.com", "password": "correct horse", "name": "Alice.Liddell"])
    let alice = gateway.bearing(signedUp.string("token"))
    _ = try await auth.receivedMail(to: "alice.liddell@example.com")
    _ = try await alice.post("/api/v1/auth/identities/phone", ["phone_number": "+4790123456"])
    let code = try await auth.code(texted: "+4790123456")
    let added = try await alice.post(
      "/api/v1/auth/identities/phone/confirm", ["phone_number": "+4790123456", "code": code])
    #expect(added.status == 200)
    _ = try await alice.send(
      .PATCH, "/api/v1/users/profile", json: ["avatar_url": "https://example.com/avatar-of-alice"])
    _ = try await alice.send(.PUT, "/auth/v1/user", json: ["data": ["nick": "Liddell"]])
    _ = try await alice.get("/api/v1/credits/balance")
    // Other services accept no blanks in the key.
    let elsewhere = alice.with(["Idempotency-Key": "key-of-Liddell"])
    let registered = try await elsewhere.post(
      "/api/devices/register", ["device_token": Self.device, "platform": "ios"])
    #expect(registered.status == 200, "\(registered.text)")
    let group = try await elsewhere.post("/api/groups", ["name": "Friends of Liddell"])
    let sent = try await elsewhere.post(
      "/api/invites/send", ["group_id": group.string("id"), "phone_numbers": ["+4790777666"]])
    #expect(sent.status == 200, "\(sent.text)")
    let collection = try await elsewhere.post("/collections", ["name": "Marbles of Liddell"])
    let id = (collection["data"] as? [String: Any])?["id"] as? String ?? ""
    let invited = try await elsewhere.post(
      "/collections/\(id)/invites", ["inviteeEmail": "guest-of-alice@example.com"])
    #expect(invited.status == 201, "\(invited.text)")
    // A text that has not been sent when the account is deleted.
    auth.twilio.next(.answers(status: 503, body: ""), times: 100)
    _ = try await auth.gateway.post("/api/auth/request-verification", ["phone_number": "+4790123456"])
    return alice
  }

  private func erase(_ auth: AuthFixture, _ alice: Browser) async throws {
    #expect(try await alice.delete("/api/v1/auth/account").status == 200)
    try await eventually { try await auth.count("erasure where finished_at is not null") == 1 }
    // A text without a user expires by itself.
    auth.stack.clock.advance(by: .seconds(90_000))
    try await eventually {
      auth.stack.clock.advance(by: .seconds(600))
      return try await auth.count("outbox where due_at is not null") == 0
    }
  }

  @Test func onSQLiteNoByteOfItIsInTheDataFolder() async throws {
    try await withAuthFixture(.sqlite, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { auth in
      let alice = try await createAccount(auth)
      let before = try ResidualData.inFiles(Self.secrets, of: auth.stack.testDatabase)
      #expect(before.contains("alice.liddell@example.com") && before.contains(Self.device))
      try await erase(auth, alice)
      // What the outbox of texts deleted after the erasure stays in the write-ahead log until that is truncated.
      for service in ["auth", "invites"] {
        let database = try await auth.stack.testDatabase.open(service, [])
        try await eventually { do { try await database.truncateWriteAheadLog(); return true } catch { return false } }
        await database.close()
      }
      #expect(try ResidualData.inFiles(Self.secrets, of: auth.stack.testDatabase) == [])
    }
  }

  @Test(.enabled(if: engines.contains(.postgres))) func onPostgreSQLNoRowHoldsIt() async throws {
    try await withAuthFixture(.postgres, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { auth in
      let alice = try await createAccount(auth)
      let before = try await ResidualData.inRows(Self.secrets, of: auth.stack.testDatabase)
      #expect(before.contains("alice.liddell@example.com") && before.contains(Self.device))
      try await erase(auth, alice)
      #expect(try await ResidualData.inRows(Self.secrets, of: auth.stack.testDatabase) == [])
    }
  }
}
