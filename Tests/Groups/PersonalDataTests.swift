import Clients
import Database
import Foundation
import Outbox
import Support
import Synchronization
import Testing
import Tokens
import Web
import Wire

@testable import Groups

/// The export of a user's data, and its erasure.
@Suite struct GroupsPersonalDataTests {
  private let token = String(repeating: "a", count: 64)

  private func path(_ user: SignedInUser) -> String { "/internal/users/\(user.id)/data" }

  /// Creates a group and a collection of Alice's that Bob is in, and data that concerns only Alice.
  private func createData(
    of alice: SignedInUser, _ bob: SignedInUser, _ stack: TestStack
  ) async throws -> (GroupID, String) {
    let groups = GroupsClient(in: stack.dependencies(of: "invites"))
    let id = try await alice.group("Ours")
    _ = try await groups.add(.init(users: [bob.id], addedBy: alice.id), to: id, idempotencyKey: nil)
    try await stack.insertPhoto(of: alice, in: id)
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
      _ = try await createData(of: alice, bob, stack)
      let auth = stack.groups.with(stack.with(key: "auth"))
      let aliceData = try await auth.get(path(alice))
      #expect(aliceData.status == 200)
      let counts = ["groups", "photos", "collections", "blocks"].map { (aliceData[$0] as? [Any])?.count }
      #expect(counts == [2, 1, 2, 0])
      let bobData = try await auth.get(path(bob))
      #expect((bobData["blocks"] as? [[String: Any]])?.first?["user_id"] as? String == alice.id.description)
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
      let (group, collection) = try await createData(of: alice, bob, stack)
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
      for name in ["groups", "photos", "collections", "blocks"] {
        #expect((rest[name] as? [Any])?.isEmpty == true, "\(name)")
      }
      try await eventually("the end of the photo") { try await columnsContaining(idOf: alice, stack).isEmpty }
      #expect((try await auth.get(path(bob))["groups"] as? [Any])?.count == 1)
    }
  }

  /// Before each of the first six transactions of the erasure, the user is added to a group or the collection again.
  @Test(arguments: engines) func whoeverLetsAUserInWhileTheyAreForgottenDoesSoForNothing(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (database, bobID, now) = (try await stack.testDatabase.open("groups", []), bob.id, stack.clock.now)
      var ids: [GroupID] = []
      for _ in 0..<3 { ids.append(try await alice.group("Ours")) }
      let collection = try #require(CollectionID(try await alice.collection("Marbles"), prefix: .collection))
      let (steps, joined) = (Counter(), Counter())
      let interrupted = InterruptedDatabase(base: database) { [ids] in
        let step = steps.next()
        guard step < 6 else { return }
        let invite = JoinByInvite(inviteID: .new(at: now), invitedBy: alice.id, role: .viewOnly)
        let outcome =
          step % 2 == 0
          ? try await MembershipStore(database: database, photoAccess: PhotoAccessCache()).join(
            bobID, ids[step / 2], by: invite, at: now
          ).outcome
          : try await CollectionMemberStore(database: database)
            .join(bobID, collection, as: .viewOnly, by: invite, at: now).outcome
        if outcome == .joined { _ = joined.next() }
      }
      let outbox = Outbox(
        database: database, keys: try #require(DataKeys(["a key"])), in: stack.dependencies, deliveries: [])
      try await PersonalDataStore(database: interrupted, outbox: outbox, photoAccess: PhotoAccessCache()).erase(
        bobID, at: now)
      // Once for each of the three groups, and twice for the collection, which the user had left in between.
      #expect(joined.count == 5)
      #expect(try await columnsContaining(idOf: bob, stack).isEmpty)
      #expect(try await wrongCounts(database) == 0)
      await database.close()
      for id in ids { #expect(try await alice.browser.get("/api/groups/\(id)").int("member_count") == 1) }
      // A group of one is closed when its member leaves: no seat is still counted.
      #expect(try await alice.browser.delete("/api/groups/\(ids[0])").status == 200)
      let groups = GroupsClient(in: stack.dependencies(of: "invites"))
      #expect(try await groups.membership(of: alice.id, in: ids[0]) == nil)
    }
  }

  @Test(arguments: engines) func countsStayTrueWhilePeopleComeAndAreForgotten(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (groups, auth) = (
        GroupsClient(in: stack.dependencies(of: "invites")), stack.groups.with(stack.with(key: "auth"))
      )
      var ids: [GroupID] = []
      for _ in 0..<4 { ids.append(try await alice.group("Ours")) }
      let collection = try #require(CollectionID(try await alice.collection("Marbles"), prefix: .collection))
      let done = try await atOnce(50) { [ids] turn in
        let invite = JoinByInvite(inviteID: .new(at: Date()), invitedBy: alice.id, role: .viewOnly)
        switch turn % 6 {
        case 0: return try await auth.delete(path(bob)).status == 204 ? "erased" : "busy"
        case 1: return try await groups.join(collection, bob.id, by: invite).outcome.rawValue
        default: return try await groups.join(ids[turn % 6 - 2], bob.id, by: invite).outcome.rawValue
        }
      }
      #expect(Set(done).isSuperset(of: ["erased", JoinOutcome.joined.rawValue]), "\(done)")
      let database = try await stack.testDatabase.open("groups", [])
      #expect(try await wrongCounts(database) == 0)
      #expect(try await auth.delete(path(bob)).status == 204)
      #expect(try await wrongCounts(database) == 0)
      #expect(try await columnsContaining(idOf: bob, stack).isEmpty)
      await database.close()
    }
  }

  /// The number of groups, users, and collections whose stored count differs from the number of rows.
  private func wrongCounts(_ database: any Database) async throws -> Int {
    try await database.read { db in
      try db.rows(
        """
        select 1 as wrong from social_group g where member_count <>
          (select count(*) from membership m where m.group_id = g.id and m.state = 'active')
        union all select 1 from person p where group_count <>
          (select count(*) from membership m where m.user_id = p.user_id and m.state = 'active')
        union all select 1 from collection c where member_count <>
          (select count(*) from collection_member m where m.collection_id = c.id)
        """
      ).count
    }
  }

  /// The columns that still contain the user's id. Ended photos do until their bytes have been deleted, seconds later.
  private func columnsContaining(idOf user: SignedInUser, _ stack: TestStack) async throws -> [String] {
    let database = try await stack.testDatabase.open("groups", [])
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

/// A counter that starts at 0.
private final class Counter: Sendable {
  private let value = Mutex(0)

  var count: Int { value.withLock { $0 } }

  func next() -> Int {
    value.withLock { count in
      defer { count += 1 }
      return count
    }
  }
}

/// A database that runs `before` ahead of every write transaction.
private struct InterruptedDatabase: Database {
  let base: any Database
  let before: @Sendable () async throws -> Void

  var engine: Engine { base.engine }

  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await base.read(body)
  }

  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    try await before()
    return try await base.write(isolation, body)
  }

  func migrate(_ migrations: [Migration]) async throws { try await base.migrate(migrations) }
  func close() async { await base.close() }
}
