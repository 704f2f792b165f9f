import Database
import Foundation
import Support
import Testing

/// Erased means: in no table and in no file any more.
@Suite struct ForgottenTests {
  private static let secrets = [
    "alice.liddell@example.com", "Alice.Liddell", "+4790123456", "4790123456", "Liddell", "iPhone of",
    "avatar-of-alice", device, "guest-of-alice@example.com", "+4790777666",
  ]
  private static let device = String(repeating: "ab12", count: 16)

  /// An account that has left traces wherever one can: a number, an address, mails, codes, a profile, keyed calls.
  private func live(_ doors: Doors) async throws -> Browser {
    let gateway = doors.gateway.with(["User-Agent": "iPhone of Liddell", "Idempotency-Key": "a key"])
    let signedUp = try await gateway.post(
      "/api/v1/auth/sign_up",
      ["email": "alice.liddell@example.com", "password": "correct horse", "name": "Alice.Liddell"])
    let alice = gateway.bearing(signedUp.string("token"))
    _ = try await doors.letter(to: "alice.liddell@example.com")
    _ = try await alice.post("/api/v1/auth/identities/phone", ["phone_number": "+4790123456"])
    let code = try await doors.code(texted: "+4790123456")
    let added = try await alice.post(
      "/api/v1/auth/identities/phone/confirm", ["phone_number": "+4790123456", "code": code])
    #expect(added.status == 200)
    _ = try await alice.send(
      .PATCH, "/api/v1/users/profile", json: ["avatar_url": "https://example.com/avatar-of-alice"])
    _ = try await alice.send(.PUT, "/auth/v1/user", json: ["data": ["nick": "Liddell"]])
    _ = try await alice.get("/api/v1/credits/balance")
    // Elsewhere a key has no blanks.
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
    // What is still to be sent when the account goes.
    doors.twilio.next(.answers(status: 503, body: ""), times: 100)
    _ = try await doors.gateway.post("/api/auth/request-verification", ["phone_number": "+4790123456"])
    return alice
  }

  private func erase(_ doors: Doors, _ alice: Browser) async throws {
    #expect(try await alice.delete("/api/v1/auth/account").status == 200)
    try await eventually { try await doors.count("erasure where finished_at is not null") == 1 }
    // The text to a number that nobody has asked for by name lapses by itself.
    doors.stack.clock.advance(by: .seconds(90_000))
    try await eventually {
      doors.stack.clock.advance(by: .seconds(600))
      return try await doors.count("outbox where due_at is not null") == 0
    }
  }

  @Test func onSQLiteNoByteOfItIsInTheDataFolder() async throws {
    try await withDoors(.sqlite, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { doors in
      let alice = try await live(doors)
      let before = try Remains.inFiles(Self.secrets, of: doors.stack.place)
      #expect(before.contains("alice.liddell@example.com") && before.contains(Self.device))
      try await erase(doors, alice)
      // What the text outbox wiped after the erasure is in the log until it is written back.
      for service in ["auth", "invites"] {
        let database = try await doors.stack.place.open(service, [])
        try await eventually { do { try await database.scrub(); return true } catch { return false } }
        await database.close()
      }
      #expect(try Remains.inFiles(Self.secrets, of: doors.stack.place) == [])
    }
  }

  @Test(.enabled(if: engines.contains(.postgres))) func onPostgreSQLNoRowHoldsIt() async throws {
    try await withDoors(.postgres, ["ACCOUNT_ERASE_AFTER_DAYS": "0"]) { doors in
      let alice = try await live(doors)
      let before = try await Remains.inRows(Self.secrets, of: doors.stack.place)
      #expect(before.contains("alice.liddell@example.com") && before.contains(Self.device))
      try await erase(doors, alice)
      #expect(try await Remains.inRows(Self.secrets, of: doors.stack.place) == [])
    }
  }
}
