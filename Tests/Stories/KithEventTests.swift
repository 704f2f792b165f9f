import Database
import Support
import Testing
import Wire

/// `kith` as one program: what its services record reaches its log of events.
@Suite struct KithEventTests {
  @Test func eventsAreDeliveredWithoutAnySetting() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let kith = try await KithProcess.start(in: testDatabase)
      let session = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
        .post("/api/v1/auth/dev/token", ["email": "alice@example.com", "display_name": "alice"])
      let alice = try await SignedInUser(session, through: kith.gateway)
      #expect(try await alice.browser.post("/api/v1/lists", ["list": ["name": "Groceries"]]).status == 201)
      try await eventually("the event") {
        try await testDatabase.count("event where name = 'list_created'", in: "events") == 1
      }
      #expect(await kith.stop() == 0)
    }
  }
}
