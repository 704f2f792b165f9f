import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// What the groups service records when its API is used.
@Suite struct GroupEventTests {
  @Test(arguments: engines) func whatHappensInAGroupIsOnItsTopic(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try #require(
        GroupID(try await alice.browser.done(.POST, "/api/groups", ["name": "The Cabin"]).string("id")))
      let invite = JoinByInvite(inviteID: .new(at: stack.clock.now), invitedBy: alice.id)
      let groups = GroupsClient(in: stack.dependencies(of: "invites"))
      for _ in 1...2 { _ = try await groups.join(group, bob.id, by: invite) }
      try await alice.browser.done(.PUT, "/api/groups/\(group)?name=The%20Hut")
      try await alice.browser.done(.DELETE, "/api/groups/\(group)/members/\(bob.id)")
      try await alice.browser.done(.POST, "/api/groups/\(group)/close")

      let topic = "social_groups:\(group)"
      let closed = try await receiver.event("group_closed", on: topic)
      #expect(
        receiver.names(on: topic)
          == ["member_joined", "member_joined", "group_changed", "member_removed", "group_closed"])
      #expect(closed.access == [.end(of: topic)])
      let created = try await receiver.event("group_created", on: "users:\(alice.id)")
      #expect(created.access == [AccessChange(topic: topic, user: alice.id, mayRead: true)])
      #expect(created.change?.record?["name"] == .string("The Cabin"))
      // Whoever has the code could join.
      #expect(try !created.shown.contains("code"))
      let joined = try await receiver.event("member_joined", on: "users:\(bob.id)")
      #expect(joined.rows.map(\.table) == ["group_members", "social_groups"])
      #expect(joined.rows[0].record?["user_id"] == .string(bob.id.description))
      #expect(joined.rows[1].type == .update && joined.rows[1].record?["member_count"] == .integer(2))
      #expect(joined.access == [AccessChange(topic: topic, user: bob.id, mayRead: true)])
      let removed = try await receiver.event("member_removed", on: topic)
      #expect(removed.access == [AccessChange(topic: topic, user: bob.id, mayRead: false)])
      #expect(removed.topics == [topic] && removed.text("by") == alice.id.description)
      #expect(removed.rows.map(\.type) == [.delete, .update])
      #expect(removed.rows.last?.record?["member_count"] == .integer(1))
      // He does not see the row of the group any more.
      let his = try await receiver.event("member_removed", on: "users:\(bob.id)")
      #expect(his.rows.map(\.table) == ["group_members"] && his.payload == removed.payload)
    }
  }

  @Test(arguments: engines) func whoeverOwnsAGroupNextIsNamed(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await stack.group(of: alice, with: bob)
      try await alice.browser.done(.DELETE, "/api/groups/\(group)")
      let changed = try await receiver.event("group_owner_changed", on: "social_groups:\(group)")
      #expect(changed.text("owner_id") == bob.id.description)
      #expect(receiver.names(on: "social_groups:\(group)").suffix(2) == ["member_left", "group_owner_changed"])
    }
  }

  @Test(arguments: engines) func aGroupThatIsPassedOnIsAChangedRow(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let group = try await stack.group(of: alice, with: bob)
      let (path, topic) = ("/api/groups/\(group)", "social_groups:\(group)")
      // Only its owner passes it on, and only to a member.
      for (user, owner, status) in [(bob, bob, 403), (alice, carol, 404), (alice, bob, 200)] {
        let passed = try await user.browser.send(.PUT, "\(path)/owner", json: ["user_id": owner.id.description])
        #expect(passed.status == status, "\(passed.text)")
      }
      let (id, maker) = (JSONValue.string(group.description), JSONValue.string(alice.id.description))
      let changed = try await receiver.event("group_owner_changed", on: topic)
      #expect(changed.payload == .object(["group_id": id, "owner_id": .string(bob.id.description)]))
      #expect(changed.topics == [topic] && changed.access == nil)
      #expect(changed.rows.map(\.table) == ["social_groups"] && changed.change?.type == .update)
      #expect(changed.change?.oldRecord == .object(["id": id]))
      let record = try #require(changed.change?.record)
      #expect(
        record.members.keys.sorted() == [
          "created_at", "created_by", "description", "id", "member_count", "name", "updated_at",
        ])
      #expect(record["id"] == id && record["name"] == .string("The Cabin"))
      #expect(record["created_by"] == maker && record["member_count"] == .integer(2))

      // Where the owner leaves, the row is with that.
      try await bob.browser.done(.DELETE, path)
      let names = ["member_joined", "member_joined", "group_owner_changed", "member_left", "group_owner_changed"]
      try await eventually("\(names)") { receiver.names(on: topic) == names }
      let events = receiver.events(on: topic)
      #expect(events[3].rows.map(\.table) == ["group_members", "social_groups"])
      #expect(events[4].payload == .object(["group_id": id, "owner_id": maker]) && events[4].rows.isEmpty)
    }
  }

  @Test(arguments: engines) func whoHasMadeAGroupAndIsErasedIsInItsRowNoLonger(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await stack.group(of: alice, with: bob)
      try await bob.browser.done(.PUT, "/api/groups/\(group)?name=The%20Hut")
      try await stack.groups.with(stack.with(key: "auth")).done(.DELETE, "/internal/users/\(alice.id)/data")
      let topic = "social_groups:\(group)"
      try await eventually("the row without alice") {
        receiver.events(on: topic).last?.change?.record?["created_by"] == .null
      }
      let changed = try await receiver.event("group_changed", on: topic)
      #expect(changed.change?.type == .update && changed.change?.record?["member_count"] == .integer(1))
      #expect(changed.change?.record?["name"] == .string("The Hut") && changed.payload["by"] == .null)
    }
  }

  @Test(arguments: engines) func collectionsAndTheirInvitesAreTold(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let made = try await alice.browser.done(.POST, "/collections", ["name": "Marbles"])
      let id = try #require((made["data"] as? [String: Any])?["id"] as? String)
      let link = try await alice.browser.done(.POST, "/collections/\(id)/invites", ["role": "EDITOR"])
      let invite = try #require((link["data"] as? [String: Any])?["id"] as? String)
      try await bob.browser.done(.POST, "/invites/\(invite)/accept")

      let accepted = try await receiver.event("invite_accepted", on: "users:\(alice.id)")
      #expect(accepted.text("collection_id") == id && accepted.text("user_id") == bob.id.description)
      #expect(accepted.topics == ["users:\(alice.id)"])
      let topic = "collections:\(try #require(CollectionID(id, prefix: .collection)))"
      let joined = try await receiver.event("member_joined", on: topic)
      #expect(joined.text("role") == "VIEW_ONLY" && joined.text("user_id") == "user_\(bob.id)")
      #expect(joined.access == [AccessChange(topic: topic, user: bob.id, mayRead: true)])

      try await alice.browser.done(.PATCH, "/collections/\(id)/members/user_\(bob.id)", ["role": "EDITOR"])
      try await bob.browser.done(.DELETE, "/collections/\(id)/members/user_\(bob.id)")
      try await alice.browser.done(.PATCH, "/collections/\(id)", ["name": "Stones"])
      try await alice.browser.done(.DELETE, "/collections/\(id)")
      let deleted = try await receiver.event("collection_deleted", on: topic)
      #expect(deleted.access == [.end(of: topic)])
      #expect(
        receiver.names(on: topic)
          == ["member_joined", "member_role_changed", "member_left", "collection_changed", "collection_deleted"])
      #expect(receiver.events(on: topic).first { $0.name == "member_role_changed" }?.access == nil)
    }
  }

  @Test(arguments: engines) func theOwnerOfATopicSaysWhoMayReadIt(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.browser.done(.POST, "/api/groups", ["name": "The Cabin"]).string("id")
      let made = try await alice.browser.done(.POST, "/collections", ["name": "Marbles"])
      let id = (made["data"] as? [String: Any])?["id"] as? String ?? ""
      let collection = try #require(CollectionID(id, prefix: .collection))
      let events = stack.groups.with(stack.with(key: "events"))
      func access(_ user: SignedInUser, _ topic: String) async throws -> TopicAccess {
        let reply = try await events.done(.GET, "/internal/topics/access?topic=\(topic)&user_id=\(user.id)")
        return TopicAccess(read: reply.bool("read") == true, write: reply.bool("write") == true)
      }
      for topic in ["social_groups:\(group)", "collections:\(collection)"] {
        #expect(try await access(alice, topic) == TopicAccess(read: true, write: true))
        #expect(try await access(bob, topic) == .none)
      }
      #expect(try await access(alice, "social_groups:\(group.uppercased())") == .none)
      #expect(try await access(alice, "collections:\(group)") == .none)
      let all = try await events.done(.GET, "/internal/topics?user_id=\(alice.id)")["topics"] as? [String]
      #expect(all == ["social_groups:\(group)", "collections:\(collection)"])
      #expect(try await events.done(.GET, "/internal/topics?user_id=\(bob.id)")["topics"] as? [String] == [])
      let stranger = stack.groups.with(stack.with(key: "invites"))
      #expect(try await stranger.get("/internal/topics?user_id=\(bob.id)").status == 403)
      // Whoever reads a group reads its hunts.
      let (adventures, readers) = (stack.groups.with(stack.with(key: "adventures")), "/internal/topics/readers")
      let found = try await adventures.done(.GET, "\(readers)?topic=social_groups:\(group)")
      #expect(found["users"] as? [String] == [alice.id.description])
      #expect(try await adventures.get("/internal/topics?user_id=\(bob.id)").status == 403)
      #expect(try await stranger.get("\(readers)?topic=social_groups:\(group)").status == 403)
    }
  }

  @Test(arguments: engines) func everyReaderOfALargeGroupIsToldInPages(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let group = try await alice.browser.done(.POST, "/api/groups", ["name": "The Village"])
      let id = try #require(GroupID(group.string("id")))
      let now = stack.clock.now
      let others = Set((0..<2 * TopicReaders.usersMax).map { _ in UserID(UUID()) })
      let database = try await stack.testDatabase.open("groups", [])
      try await database.write { db in
        for other in others {
          try db.enqueue(
            """
            insert into membership (id, group_id, user_id, role, state, joined_at)
            values (\(other), \(id), \(other), 'member', 'active', \(now))
            """)
        }
      }
      await database.close()
      let client = TopicAccessClient([.groups], in: stack.dependencies(of: "events"))
      let topic = "social_groups:\(id)"
      let readers = try await client.readers(of: topic, at: .groups)
      #expect(readers.count == others.count + 1 && Set(readers) == others.union([alice.id]))
      #expect(readers.map(\.description) == readers.map(\.description).sorted())
      let first = try await client.someReaders(of: topic, at: .groups)
      #expect(first == Array(readers.prefix(TopicReaders.usersMax)))
      #expect(try await client.someReaders(of: topic, after: readers.last, at: .groups) == [])
      let events = stack.groups.with(stack.with(key: "events"))
      #expect(try await events.get("/internal/topics/readers?topic=\(topic)&after=me").status == 422)
    }
  }
}

extension TestStack {
  fileprivate func group(of owner: SignedInUser, with member: SignedInUser) async throws -> GroupID {
    let group = try #require(
      GroupID(try await owner.browser.done(.POST, "/api/groups", ["name": "The Cabin"]).string("id")))
    _ = try await GroupsClient(in: dependencies(of: "invites"))
      .join(group, member.id, by: JoinByInvite(inviteID: .new(at: clock.now), invitedBy: owner.id))
    return group
  }
}
