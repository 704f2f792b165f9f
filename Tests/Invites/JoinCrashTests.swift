import Database
import Foundation
import Support
import Testing
import Wire

@testable import Invites

/// A process is killed after each of the steps of a join, for every kind of target.
@Suite struct JoinCrashTests {
  /// A target that alice shares, with an invite for two uses.
  private struct SharedTarget: Sendable {
    let invite: InviteID
    /// What the event says that somebody has accepted the invite: what they have joined, and as what.
    let joined: [String: JSONValue]
    /// Joins as an app does.
    let accept: @Sendable (SignedInUser) async throws -> Browser.Reply
    /// The number of users who have joined.
    let guests: @Sendable () async throws -> Int
  }

  private func share(_ kind: JoinTarget.Kind, by alice: SignedInUser, _ stack: TestStack) async throws -> SharedTarget {
    switch kind {
    case .collection:
      let collection = try await alice.collection()
      let link = try await alice.link(to: collection)
      let joined: [String: JSONValue] = ["collection_id": .string(collection), "role": "VIEW_ONLY"]
      return SharedTarget(invite: try #require(InviteID(link.id, prefix: .invite)), joined: joined) {
        try await $0.accept(link)
      } guests: {
        (try await alice.browser.get("/collections/\(collection)/members").int("count") ?? 0) - 1
      }
    case .group:
      let group = try await alice.group()
      let made = try await alice.browser.post("/api/groups/\(group)/invites", ["max_uses": 2])
      let code = made.string("code")
      let joined: [String: JSONValue] = ["group_id": .string(group), "role": .null]
      return SharedTarget(invite: try #require(InviteID(made.string("id"))), joined: joined) {
        try await $0.browser.post("/api/invites/redeem/\(code)")
      } guests: {
        (try await alice.browser.get("/api/groups/\(group)").int("member_count") ?? 0) - 1
      }
    case .list:
      let made = try await alice.browser.post("/api/v1/lists", ["list": ["name": "Groceries"]])
      let list = try #require((made["list"] as? [String: Any])?["id"] as? Int)
      let link = try await alice.browser.post("/api/v1/lists/\(list)/invites", ["invite": ["max_uses": 2]])
      let invite = try #require(link["invite"] as? [String: Any])
      let code = invite["code"] as? String ?? ""
      let joined: [String: JSONValue] = ["list_id": .integer(list), "role": "viewer"]
      let id = try await stack.invite(numbered: try #require(invite["id"] as? Int))
      return SharedTarget(invite: id, joined: joined) {
        try await $0.browser.post("/api/v1/invites/\(code)/accept")
      } guests: {
        let memberships = try await alice.browser.get("/api/v1/lists/\(list)/memberships")["memberships"] as? [Any]
        return memberships?.count ?? -1
      }
    }
  }

  @Test(arguments: engines, [JoinTarget.Kind.collection, .group, .list])
  func whoeverJoinedBeforeTheDeathIsInOnce(engine: Engine, kind: JoinTarget.Kind) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let shared = try await share(kind, by: alice, stack)
      let claim = try await stack.claim(shared.invite, bob.id)
      #expect(try await stack.join(claim).outcome == .joined)
      #expect(try await stack.count("invite_use where due_at is not null and state = 'claimed'", in: "invites") == 1)
      stack.clock.advance(by: .seconds(30))
      try await eventually("the end of it") {
        try await stack.count("invite_use where due_at is not null", in: "invites") == 0
      }
      #expect(try await stack.count("invite_use where state = 'joined' and answered_at is null", in: "invites") == 1)
      let answered = try await shared.accept(bob)
      #expect(answered.status == 200)
      #expect(try await shared.guests() == 1)
      #expect(try await stack.count("invite where uses_count = 1", in: "invites") == 1)
      #expect([400, 409].contains(try await shared.accept(bob).status))
      #expect(try await stack.count("invite where uses_count = 1", in: "invites") == 1)
    }
  }

  /// What the request would have recorded is recorded by the worker.
  @Test(arguments: engines, [JoinTarget.Kind.collection, .group, .list])
  func theInviterIsToldOfAJoinThatTheWorkerFinishes(engine: Engine, kind: JoinTarget.Kind) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let shared = try await share(kind, by: alice, stack)
      let claim = try await stack.claim(shared.invite, bob.id)
      #expect(try await stack.join(claim).outcome == .joined)
      stack.clock.advance(by: .seconds(30))
      try await eventually("the end of it") {
        try await stack.count("invite_use where due_at is not null", in: "invites") == 0
      }
      try await eventually("the delivery") { try await stack.count("event_outbox", in: "invites") == 0 }
      let accepted = receiver.events.filter { $0.name == "invite_accepted" }
      #expect(accepted.map(\.topics) == [["users:\(alice.id)"]])
      let ids = JSONValue.object([
        "invite_id": .string(shared.invite.description), "user_id": .string(bob.id.description),
      ])
      #expect(accepted.first?.payload == ids.with(shared.joined))
      // He has not had an answer, and asks again.
      #expect(try await shared.accept(bob).status == 200)
      try await eventually("what is delivered again") { try await stack.count("event_outbox", in: "invites") == 0 }
      #expect(Set(receiver.events.filter { $0.name == "invite_accepted" }.map(\.id)) == Set(accepted.map(\.id)))
    }
  }

  /// The user may retry before the worker has finished the join.
  @Test(arguments: engines, [JoinTarget.Kind.collection, .group, .list])
  func whoeverAsksAgainAfterTheDeathIsInOnce(engine: Engine, kind: JoinTarget.Kind) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let shared = try await share(kind, by: alice, stack)
      let claim = try await stack.claim(shared.invite, bob.id)
      #expect(try await stack.join(claim).outcome == .joined)
      stack.clock.advance(by: .seconds(16))
      let statuses = try await atOnce(5) { _ in try await shared.accept(bob).status }
      #expect(statuses.count { $0 == 200 } == 1, "\(statuses)")
      #expect(try await shared.guests() == 1)
      #expect(try await stack.count("invite where uses_count = 1", in: "invites") == 1)
      #expect(try await stack.count("invite_use", in: "invites") == 1)
    }
  }

  @Test(arguments: engines) func whoeverFindsTheGroupFullIsToldSo(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let others = try await concurrently(11) { try await stack.signIn("guest\($0)") }
      let group = try await alice.group()
      let code = try await texting.invite([number(5)], to: group, by: alice)[0]
      let invite = try await stack.withInvites { database in
        try await database.read { db in try db.row("select id from invite")?.get("id", as: InviteID.self) }
      }
      let claim = try await stack.claim(try #require(invite), bob.id)
      try await stack.shareCollection(alice, with: others)
      let added = try await alice.browser.post(
        "/api/invites/send",
        [
          "group_id": group, "phone_numbers": [String](),
          "existing_users": others.map { ["user_id": $0.id.description] },
        ])
      #expect(added.int("added_members") == 11)
      // One process is killed before it calls groups, one after the response.
      #expect(try await stack.join(claim).outcome == .full)
      stack.clock.advance(by: .seconds(30))
      try await eventually("nothing claimed") { try await stack.count("invite_use", in: "invites") == 0 }
      #expect(try await stack.count("invite where state = 'pending' and uses_count = 0", in: "invites") == 1)
      let full = try await bob.browser.post("/api/invites/redeem/\(code)")
      #expect(full.status == 400 && full.string("code") == "group_full")
      #expect(try await others[0].browser.delete("/api/groups/\(group)").status == 200)
      #expect(try await bob.browser.post("/api/invites/redeem/\(code)").status == 200)
    }
  }

  /// A user claims the code and is refused: the text to its recipient is still sent.
  @Test(arguments: engines) func aTextOutlivesAClaimThatIsUndone(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let stack = texting.stack
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await alice.group()
      // The next try does not come before the claim.
      stack.clock.stop()
      texting.twilio.next(.refuses(status: 503, code: 20503))
      _ = try await texting.invite([number(5)], to: group, by: alice)
      try await eventually("a try") {
        try await stack.count("outbox where tries = 1 and lease is null", in: "invites") == 1
      }
      let invite = try await stack.withInvites { database in
        try await database.read { db in try db.row("select id from invite")?.get("id", as: InviteID.self) }
      }
      _ = try await stack.claim(try #require(invite), bob.id)
      // Bob is a member already, so his join is refused.
      try await stack.shareCollection(alice, with: [bob])
      let added = try await alice.browser.post(
        "/api/invites/send",
        ["group_id": group, "phone_numbers": [String](), "existing_users": [["user_id": bob.id.description]]])
      #expect(added.int("added_members") == 1)
      stack.clock.advance(by: .seconds(5))
      try await eventually("another try") {
        try await stack.count("outbox where tries = 2 and lease is null", in: "invites") == 1
      }
      #expect(texting.twilio.messages.isEmpty)
      stack.clock.advance(by: .seconds(30))
      try await eventually("nothing claimed") { try await stack.count("invite_use", in: "invites") == 0 }
      stack.clock.advance(by: .seconds(30))
      try await eventually("the text") { texting.texts(to: number(5)).count == 1 }
    }
  }
}
