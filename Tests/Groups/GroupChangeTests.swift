import Clients
import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// Changes to a group by members and by its owner.
@Suite struct GroupChangeTests {
  /// Creates a group of `owner` that `members` are in.
  private func group(of owner: SignedInUser, _ members: [SignedInUser], _ stack: TestStack) async throws -> GroupID {
    let id = try await owner.group("Ours")
    let groups = GroupsClient(in: stack.dependencies(of: "invites"))
    _ = try await groups.add(.init(users: members.map(\.id), addedBy: owner.id), to: id, idempotencyKey: nil)
    return id
  }

  @Test(arguments: engines) func anyMemberRenamesAndDescribes(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let id = try await group(of: alice, [bob], stack)
      #expect(try await bob.browser.send(.PUT, "/api/groups/\(id)?name=The%20Sea%20Cabin").bool("success") == true)
      #expect(try await bob.browser.put("/api/groups/\(id)/", ["description": "By the sea"]).status == 200)
      let now = try await alice.browser.get("/api/groups/\(id)")
      #expect(now.string("name") == "The Sea Cabin")
      #expect(now.string("description") == "By the sea")
      #expect(try await alice.browser.put("/api/groups/\(id)", ["description": "", "name": "Ours"]).status == 200)
      #expect(try await alice.browser.get("/api/groups/\(id)")["description"] is NSNull)

      for path in ["?name=", "?name=\(String(repeating: "x", count: 51))", ""] {
        let refused = try await alice.browser.send(.PUT, "/api/groups/\(id)\(path)")
        #expect(refused.status == 422)
        #expect((refused["errors"] as? [[String: Any]])?.first?["field"] as? String == "name")
      }
      #expect(try await alice.browser.get("/api/groups/\(id)").string("name") == "Ours")
    }
  }

  @Test(arguments: engines) func onlyTheOwnerMovesTheDay(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let id = try await group(of: alice, [bob], stack)
      let refused = try await bob.browser.put("/api/groups/\(id)", ["time_zone": "Europe/Oslo"])
      #expect(refused.status == 403)
      #expect(try await alice.browser.put("/api/groups/\(id)", ["time_zone": "Nowhere/Else"]).status == 422)
      #expect(try await alice.browser.put("/api/groups/\(id)", ["time_zone": "Europe/Oslo"]).status == 200)
      #expect(try await bob.browser.get("/api/groups/\(id)").string("time_zone") == "Europe/Oslo")
    }
  }

  @Test(arguments: engines) func theOwnerRemovesMembersAndHandsOver(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob, carol) = (
        try await stack.signIn("alice"), try await stack.signIn("bob"), try await stack.signIn("carol")
      )
      let id = try await group(of: alice, [bob, carol], stack)
      #expect(try await bob.browser.delete("/api/groups/\(id)/members/\(carol.id)").status == 403)
      #expect(try await bob.browser.put("/api/groups/\(id)/owner", ["user_id": bob.id.description]).status == 403)
      #expect(try await alice.browser.delete("/api/groups/\(id)/members/\(carol.id)").status == 200)
      #expect(try await alice.browser.delete("/api/groups/\(id)/members/\(carol.id)").status == 404)
      #expect(try await carol.browser.get("/api/groups/\(id)").status == 404)

      let toCarol = try await alice.browser.put("/api/groups/\(id)/owner", ["user_id": carol.id.description])
      #expect(toCarol.status == 404)
      #expect(try await alice.browser.get("/api/groups/\(id)").string("role") == "owner")
      #expect(try await alice.browser.put("/api/groups/\(id)/owner", ["user_id": bob.id.description]).status == 200)
      #expect(try await alice.browser.get("/api/groups/\(id)").string("role") == "member")
      #expect(try await bob.browser.delete("/api/groups/\(id)/members/\(alice.id)").status == 200)
      #expect(try await bob.browser.get("/api/groups/\(id)").int("member_count") == 1)
    }
  }

  @Test(arguments: engines) func aClosedGroupIsGoneForEveryoneAndFreesTheirPlaces(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      for _ in 0..<5 {
        let id = try await group(of: alice, [bob], stack)
        #expect(try await bob.browser.post("/api/groups/\(id)/close").status == 403)
        #expect(try await alice.browser.get("/api/groups/\(id)").status == 200)
      }
      #expect(try await bob.browser.post("/api/groups", ["name": "Sixth"]).string("code") == "too_many_groups")
      let ids = try await alice.browser.get("/api/groups").list.compactMap { $0["id"] as? String }
      let closed = try await atOnce(5) { try await alice.browser.post("/api/groups/\(ids[$0])/close").status }
      #expect(closed == [200, 200, 200, 200, 200])
      #expect(try await alice.browser.post("/api/groups/\(ids[0])/close").status == 404)
      #expect(try await bob.browser.get("/api/groups").list.isEmpty)
      #expect(try await bob.browser.post("/api/groups", ["name": "Sixth"]).status == 200)
    }
  }

  @Test(arguments: engines) func aKeyMakesOneGroup(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let browser = alice.browser.with(["Idempotency-Key": "cabin"])
      let made = try await atOnce(20) { _ in try await browser.post("/api/groups/", ["name": "Ours"]) }
      #expect(made.allSatisfy { $0.status == 200 })
      #expect(Set(made.map { $0.string("id") }).count == 1)
      #expect(try await alice.browser.get("/api/groups").list.count == 1)
      #expect(try await browser.post("/api/groups/", ["name": "Theirs"]).status == 422)
    }
  }

  @Test(
    arguments: [
      (["name": ""], "name"), (["name": "  "], "name"), (["name": 5], "name"), ([:], "name"),
      (["name": String(repeating: "å", count: 51)], "name"),
      (["name": "x", "time_zone": "Nowhere"], "time_zone"),
      (["name": "x", "description": String(repeating: "x", count: 1001)], "description"),
      (["name": "x", "description": characterWithMarks], "description"),
      (["name": "x", "member_phone_numbers": ["004712345678"]], "member_phone_numbers.0"),
      (["name": "x", "member_phone_numbers": Array(repeating: "+4712345678", count: 101)], "member_phone_numbers"),
    ] as [([String: any Sendable], String)])
  func whatIsWrongWithANewGroupIsTold(body: [String: any Sendable], field: String) async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let refused = try await alice.browser.post("/api/groups", body)
      #expect(refused.status == 422)
      #expect((refused["errors"] as? [[String: Any]])?.first?["field"] as? String == field)
      #expect(try await alice.browser.get("/api/groups").list.isEmpty)
    }
  }
}
