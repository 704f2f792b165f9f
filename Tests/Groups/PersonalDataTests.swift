import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// What a user is handed of their data, and what is left after they are forgotten.
@Suite struct GroupsDataTests {
  private let token = String(repeating: "a", count: 64)

  private func path(_ user: SignedInUser) -> String { "/internal/users/\(user.id)/data" }

  /// Alice owns a group and a collection that Bob is in, and things of her own.
  private func settle(_ alice: SignedInUser, _ bob: SignedInUser, _ stack: TestStack) async throws -> (GroupID, String)
  {
    let groups = GroupsClient(in: stack.surroundings(of: "invites"))
    let id = try await alice.group("Ours")
    _ = try await groups.add(.init(users: [bob.id], addedBy: alice.id), to: id, idempotencyKey: nil)
    try await stack.photo(of: alice, in: id)
    _ = try await alice.group("Mine alone")
    let shared = try await alice.collection("Marbles")
    let collection = try #require(CollectionID(shared, prefix: .collection))
    _ = try await groups.join(
      collection, bob.id, by: .init(inviteID: .new(at: Date()), invitedBy: alice.id, role: .viewOnly))
    _ = try await alice.collection("Mine alone")
    _ = try await alice.browser.post("/api/devices/register", ["device_token": token, "platform": "ios"])
    _ = try await bob.browser.post("/users/\(alice.id)/block")
    return (id, shared)
  }

  @Test(arguments: engines) func aUserIsHandedWhatIsKnownOfThem(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      _ = try await settle(alice, bob, stack)
      let auth = stack.groups.with(stack.with(key: "auth"))
      let hers = try await auth.get(path(alice))
      #expect(hers.status == 200)
      let counts = ["groups", "photos", "collections", "blocks", "devices"].map { (hers[$0] as? [Any])?.count }
      #expect(counts == [2, 1, 2, 0, 1])
      let his = try await auth.get(path(bob))
      #expect((his["blocks"] as? [[String: Any]])?.first?["user_id"] as? String == alice.id.description)
      for key in ["invites", "plain", "credits"] {
        #expect(try await stack.groups.with(stack.with(key: key)).get(path(alice)).status == 403)
      }
      #expect(try await stack.groups.bearing(alice.access).get(path(alice)).status == 403)
      #expect(try await stack.gateway.with(stack.with(key: "auth")).get(path(alice)).status == 404)
    }
  }

  @Test(arguments: engines) func whoIsForgottenPassesOnWhatOthersShare(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (group, collection) = try await settle(alice, bob, stack)
      // Bob has one of the same name.
      _ = try await bob.collection("Marbles")
      let auth = stack.groups.with(stack.with(key: "auth"))
      let erased = try await atOnce(5) { _ in try await auth.delete(path(alice)).status }
      #expect(erased.allSatisfy { $0 == 204 })
      #expect(try await auth.delete(path(alice)).status == 204)

      let left = try await bob.browser.get("/api/groups/\(group)")
      #expect(left.string("role") == "owner")
      #expect(left.int("member_count") == 1)
      #expect(left["last_photo"] is NSNull)
      let marbles = try await bob.browser.get("/collections/\(collection)")["data"] as? [String: Any]
      #expect(marbles?["userId"] as? String == "user_\(bob.id)")
      #expect(marbles?["name"] as? String == "Marbles (2)")
      #expect(try await bob.browser.get("/collections").int("count") == 2)
      let rest = try await auth.get(path(alice))
      for name in ["groups", "photos", "collections", "blocks", "devices"] {
        #expect((rest[name] as? [Any])?.isEmpty == true, "\(name)")
      }
      try await eventually("the end of the photo") { try await traces(of: alice, stack).isEmpty }
      #expect((try await auth.get(path(bob))["groups"] as? [Any])?.count == 1)
    }
  }

  /// The columns that still hold the user's id. A photo does until its bytes have been deleted, seconds later.
  private func traces(of user: SignedInUser, _ stack: TestStack) async throws -> [String] {
    let database = try await stack.place.open("groups", [])
    let id = user.id
    let found = try await database.read { db in
      let counts: [(String, SQL)] = [
        ("social_group.created_by", "select 1 as one from social_group where created_by = \(id)"),
        ("membership.user_id", "select 1 as one from membership where user_id = \(id)"),
        ("person.user_id", "select 1 as one from person where user_id = \(id)"),
        ("photo.sender_id", "select 1 as one from photo where sender_id = \(id) and state = 'ended'"),
        ("photo alive", "select 1 as one from photo where sender_id = \(id) and state <> 'ended'"),
        ("collection.owner_id", "select 1 as one from collection where owner_id = \(id)"),
        ("collection_member.user_id", "select 1 as one from collection_member where user_id = \(id)"),
        ("block", "select 1 as one from block where blocker_id = \(id) or blocked_id = \(id)"),
        ("device.user_id", "select 1 as one from device where user_id = \(id)"),
        ("invite_use.user_id", "select 1 as one from invite_use where user_id = \(id)"),
        ("collection_removal.user_id", "select 1 as one from collection_removal where user_id = \(id)"),
        ("outbox.user_id", "select 1 as one from outbox where user_id = \(id)"),
        ("idempotency_key.caller", "select 1 as one from idempotency_key where caller = \(id.description)"),
      ]
      return try counts.filter { try db.row($0.1) != nil }.map(\.0)
    }
    await database.close()
    return found
  }
}
