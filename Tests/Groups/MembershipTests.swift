import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// Limits on members and groups, also under concurrent requests.
@Suite struct MembershipTests {
  private func join(_ invitedBy: UserID? = nil) -> JoinByInvite {
    JoinByInvite(inviteID: .new(at: Date()), invitedBy: invitedBy)
  }

  @Test(arguments: engines) func ofFiftyWhoWantTheLastSeatOneGetsIt(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let (id, groups) = (try await alice.group("Ours"), GroupsClient(in: stack.dependencies(of: "invites")))
      for _ in 0..<10 {
        #expect(try await groups.join(id, .new(at: Date()), by: join()).outcome == .joined)
      }
      let outcomes = try await atOnce(50) { _ in try await groups.join(id, .new(at: Date()), by: join()).outcome }
      #expect(outcomes.count { $0 == .joined } == 1)
      #expect(outcomes.count { $0 == .full } == 49)
      let group = try await alice.browser.get("/api/groups/\(id)")
      #expect(group.int("member_count") == 12)
      #expect((group["members"] as? [Any])?.count == 12)
    }
  }

  @Test(arguments: engines) func theTablesThemselvesRefuseAThirteenthSeatAndASecondOwner(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (id, groups) = (try await alice.group("Ours"), GroupsClient(in: stack.dependencies(of: "invites")))
      #expect(try await groups.join(id, bob.id, by: join()).outcome == .joined)
      let database = try await stack.testDatabase.open("groups", [])
      func refusal(_ statement: SQL) async throws -> DatabaseFailure? {
        do { try await database.write { try $0.change(statement) } } catch let failure as DatabaseFailure {
          return failure
        }
        return nil
      }
      #expect(
        try await refusal("update social_group set member_count = 13 where id = \(id)")
          == .check("social_group_seats"))
      #expect(
        try await refusal("update person set group_count = 6 where user_id = \(alice.id)") == .check("person_groups"))
      #expect(
        try await refusal("update membership set role = 'owner' where group_id = \(id) and user_id = \(bob.id)")
          == .unique("membership_one_owner"))
      #expect(try await refusal("update social_group set member_count = 12 where id = \(id)") == nil)
      await database.close()
    }
  }

  /// Another process may repeat a request under the same idempotency key, so the body must not depend on the process.
  @Test func theSamePeopleAreAddedByTheSameBody() throws {
    let people = (0..<20).map { _ in UserID.new(at: Date()) }
    let body = AddToGroup(users: people + people.shuffled(), addedBy: people[0])
    #expect(body.users.count == 20 && body.users.map(\.description) == people.map(\.description).sorted())
    #expect(try JSON.encodeExact(AddToGroup(users: people.reversed(), addedBy: people[0])) == JSON.encodeExact(body))
  }

  @Test(arguments: engines) func aPersonIsInAtMostFiveGroupsHoweverManyTheyMakeAtOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let made = try await atOnce(20) { try await alice.browser.post("/api/groups", ["name": "Group \($0)"]) }
      #expect(made.count { $0.status == 200 } == 5)
      let refused = made.filter { $0.status != 200 }
      #expect(refused.allSatisfy { $0.status == 400 && $0.string("code") == "too_many_groups" })
      #expect(try await alice.browser.get("/api/groups").list.count == 5)

      // The limit also applies to joining by an invite. Leaving a group makes room for another.
      let (id, groups) = (try await bob.group("Bob's"), GroupsClient(in: stack.dependencies(of: "invites")))
      #expect(try await groups.join(id, alice.id, by: join(bob.id)).outcome == .tooManyGroups)
      let one = try #require(made.first { $0.status == 200 }?.string("id"))
      #expect(try await alice.browser.delete("/api/groups/\(one)").status == 200)
      #expect(try await groups.join(id, alice.id, by: join(bob.id)).outcome == .joined)
    }
  }

  @Test(arguments: engines) func anInviteLetsSomebodyInOnce(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (id, groups) = (try await alice.group("Ours"), GroupsClient(in: stack.dependencies(of: "invites")))
      let invite = join(alice.id)
      let outcomes = try await atOnce(50) { _ in try await groups.join(id, bob.id, by: invite).outcome }
      #expect(outcomes.allSatisfy { $0 == .joined })
      #expect(try await alice.browser.get("/api/groups/\(id)").int("member_count") == 2)
      #expect(try await groups.join(id, bob.id, by: join(alice.id)).outcome == .alreadyMember)

      // A user who has left cannot join again by the same invite, but can by a new one.
      #expect(try await bob.browser.delete("/api/groups/\(id)").status == 200)
      #expect(try await groups.join(id, bob.id, by: invite).outcome == .joined)
      #expect(try await groups.membership(of: bob.id, in: id)?.isActive == false)
      #expect(try await groups.join(id, bob.id, by: join(alice.id)).outcome == .joined)
      #expect(try await groups.membership(of: bob.id, in: id)?.isActive == true)
    }
  }

  @Test(arguments: engines) func severalAreAddedTogetherOrNotAtAll(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (id, groups) = (try await alice.group("Ours"), GroupsClient(in: stack.dependencies(of: "invites")))
      let strangers = (0..<12).map { _ in UserID.new(at: Date()) }
      await #expect {
        _ = try await groups.add(.init(users: strangers, addedBy: alice.id), to: id, idempotencyKey: nil)
      } throws: { ($0 as? Failure)?.code == "group_full" }
      await #expect {
        _ = try await groups.add(.init(users: [bob.id], addedBy: bob.id), to: id, idempotencyKey: nil)
      } throws: { ($0 as? Failure)?.code == "not_a_member" }
      #expect(try await alice.browser.get("/api/groups/\(id)").int("member_count") == 1)

      let some = AddToGroup(users: [bob.id, bob.id, alice.id] + strangers.prefix(3), addedBy: alice.id)
      let added = try await groups.add(some, to: id, idempotencyKey: "once")
      #expect(Set(added.added) == Set([bob.id] + strangers.prefix(3)))
      #expect(try await groups.add(some, to: id, idempotencyKey: "once") == added)
      #expect(try await groups.add(some, to: id, idempotencyKey: nil).added.isEmpty)
      #expect(try await alice.browser.get("/api/groups/\(id)").int("member_count") == 5)
    }
  }

  @Test(arguments: engines) func countsStayTrueWhilePeopleComeAndGo(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let people = try await atOnce(6) { try await stack.signIn("guest\($0)") }
      let groups = GroupsClient(in: stack.dependencies(of: "invites"))
      let ids = [try await alice.group("One"), try await alice.group("Two")]
      _ = try await atOnce(60) { turn in
        let (person, id) = (people[turn % 6], ids[turn / 6 % 2])
        if turn % 3 == 0 { return try await person.browser.delete("/api/groups/\(id)").status }
        return try await groups.join(id, person.id, by: join()).outcome == .joined ? 200 : 400
      }
      let database = try await stack.testDatabase.open("groups", [])
      let wrong = try await database.read { db in
        try db.rows(
          """
          select 1 as wrong from social_group g where member_count <>
            (select count(*) from membership m where m.group_id = g.id and m.state = 'active')
          union all select 1 from person p where group_count <>
            (select count(*) from membership m where m.user_id = p.user_id and m.state = 'active')
          """
        ).count
      }
      await database.close()
      #expect(wrong == 0)
    }
  }

  @Test(arguments: engines) func ownersWhoLeaveTogetherLeaveOneOwner(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let people = try await atOnce(8) { try await stack.signIn("guest\($0)") }
      let (id, groups) = (try await people[0].group("Ours"), GroupsClient(in: stack.dependencies(of: "invites")))
      for person in people.dropFirst() { _ = try await groups.join(id, person.id, by: join()) }
      let left = try await atOnce(7) { try await people[$0].browser.delete("/api/groups/\(id)").status }
      #expect(left.allSatisfy { $0 == 200 })
      let last = try await people[7].browser.get("/api/groups/\(id)")
      #expect(last.string("role") == "owner")
      #expect(last.int("member_count") == 1)
    }
  }
}
