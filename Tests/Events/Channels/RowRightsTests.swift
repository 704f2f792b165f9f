import Database
import Foundation
import Support
import Testing
import Wire

/// `postgres_changes` of the contract's tables: each row reaches those who would see it by `/rest/v1`, and nobody else.
@Suite struct RowRightsTests {
  private static let everything = #"{"event":"*","schema":"*"}"#

  /// A user who has asked for all changes of all tables, on a channel that is no topic.
  private func watcher(_ name: String, _ stack: TestStack) async throws -> ChannelListener {
    let listener = try await ChannelListener(stack.signIn(name), stack)
    let reply = try await listener.socket.join(
      Self.channel, listener.user.access, #""postgres_changes":[\#(Self.everything)]"#)
    guard reply.status == "ok" else { throw Unexpected(reply: "\(reply.reason ?? "")") }
    return listener
  }

  private static let channel = "realtime:any name"

  private func rows(_ listener: ChannelListener, _ table: String) -> [String] {
    listener.changes(on: "any name").filter { $0["table"]?.string == table }.compactMap { $0["type"]?.string }
  }

  private func expect(
    _ types: [String], of table: String, at listener: ChannelListener, line: Int = #line
  ) async throws {
    try await eventually("\(types) of \(table) in line \(line), but \(rows(listener, table))") {
      rows(listener, table) == types
    }
  }

  @Test(arguments: engines) func everybodyGetsTheRowsThatTheySee(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let (alice, bob) = (try await watcher("alice", stack), try await watcher("bob", stack))
      let mallory = try await watcher("mallory", stack)
      // Own rows: nobody else's.
      let place = try await alice.user.insert("saved_places", ["name": "Home"])
      try await alice.user.rest(.PATCH, "saved_places?id=eq.\(place)", ["name": "Hidden"])
      try await alice.user.rest(.DELETE, "saved_places?id=eq.\(place)")
      try await expect(["INSERT", "UPDATE", "DELETE"], of: "saved_places", at: alice)
      let plan = try await alice.user.insert("adventure_plans", ["title": "A walk"])
      try await alice.user.rest(.DELETE, "adventure_plans?id=eq.\(plan)")
      try await expect(["INSERT", "DELETE"], of: "adventure_plans", at: alice)
      try await alice.user.rest(.PATCH, "users?id=eq.\(alice.user.id)", ["display_name": "Al"])
      try await expect(["UPDATE"], of: "users", at: alice)

      // Members see their group and one another.
      let group = try await alice.user.rest(.POST, "social_groups", ["name": "Ours"]).first
      let id = group?["id"] as? String ?? ""
      let code = JSONValue.string(group?["invite_code"] as? String ?? "")
      try await bob.user.rest(.POST, "social_groups/join", ["invite_code": code])
      try await expect(["INSERT"], of: "group_members", at: bob)
      try await alice.user.rest(.PATCH, "social_groups?id=eq.\(id)", ["name": "Theirs"])
      // The first one has the new number of members.
      try await expect(["UPDATE", "UPDATE"], of: "social_groups", at: bob)
      try await expect(["INSERT", "UPDATE", "UPDATE"], of: "social_groups", at: alice)

      try await hunt(alice, bob, stack)
      try await shares(alice, bob, at: stack.clock.now)
      let strangers = ["saved_places", "adventure_plans", "users"]
      #expect(strangers.flatMap { rows(bob, $0) }.isEmpty)
      #expect(try await mallory.socket.settled().filter { $0.event == "postgres_changes" }.isEmpty)
      #expect(!mallory.received.contains("Hidden"))
    }
  }

  /// Of a hunt, its submissions are for those who take part; the rest is for the members of its group as well.
  private func hunt(_ alice: ChannelListener, _ bob: ChannelListener, _ stack: TestStack) async throws {
    let hunt = try await alice.user.draftHunt()
    try await bob.user.rest(.POST, "scavenger_hunts/join", ["invite_code": .string(hunt.code)])
    try await expect(["INSERT"], of: "hunt_participants", at: bob)
    try await alice.user.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", ["status": "active"])
    try await expect(["UPDATE"], of: "scavenger_hunts", at: bob)
    try await bob.user.rest(.POST, "checkpoint_submissions", ["checkpoint_id": .string(hunt.checkpoint)])
    try await expect(["INSERT"], of: "checkpoint_submissions", at: bob)
    try await expect(["INSERT"], of: "checkpoint_submissions", at: alice)
    let mine = "hunt_participants?hunt_id=eq.\(hunt.id)&user_id=eq.\(bob.user.id)"
    try await bob.user.rest(.DELETE, mine)
    try await expect(["INSERT", "DELETE"], of: "hunt_participants", at: alice)
    try await alice.user.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", ["status": "completed"])
    try await expect(["INSERT", "UPDATE", "UPDATE"], of: "scavenger_hunts", at: alice)
    // Bob has seen the end of his participation, and nothing since.
    #expect(rows(bob, "scavenger_hunts") == ["UPDATE"])
  }

  /// A recipient sees a share while it is active.
  private func shares(_ alice: ChannelListener, _ bob: ChannelListener, at now: Date) async throws {
    let share = try await alice.user.share(["minutes": 20], with: bob.user.id, at: now)
    let path = "eta_shares?id=eq.\(share)"
    try await alice.user.rest(.PATCH, path, ["route_data": ["minutes": 12]])
    try await alice.user.rest(.PATCH, path, ["is_active": false])
    try await expect(["INSERT", "UPDATE", "DELETE"], of: "eta_shares", at: bob)
    // What is changed afterwards is not his to see.
    try await alice.user.rest(.PATCH, path, ["route_data": ["street": "Hidden"]])
    try await alice.user.rest(.PATCH, path, ["is_active": true, "route_data": ["minutes": 3]])
    try await expect(["INSERT", "UPDATE", "DELETE", "INSERT"], of: "eta_shares", at: bob)
    try await expect(["INSERT", "UPDATE", "UPDATE", "UPDATE", "UPDATE"], of: "eta_shares", at: alice)
    try await alice.user.rest(.DELETE, path)
    try await expect(["INSERT", "UPDATE", "DELETE", "INSERT", "DELETE"], of: "eta_shares", at: bob)
    #expect(!bob.received.contains("Hidden"))
  }

  @Test(arguments: engines) func submissionsReachOnlyWhoTakesPart(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let owner = try await stack.signIn("alice")
      let bob = try await ChannelListener(stack.signIn("bob"), stack)
      let carol = try await ChannelListener(stack.signIn("carol"), stack)
      let group = try await owner.rest(.POST, "social_groups", ["name": "Ours"]).first
      let code = JSONValue.string(group?["invite_code"] as? String ?? "")
      for member in [bob, carol] { try await member.user.rest(.POST, "social_groups/join", ["invite_code": code]) }
      let hunt = try await owner.draftHunt(of: group?["id"] as? String)
      try await owner.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", ["status": "active"])
      let alice = try await watcher("alice", stack)
      let (topic, submissions) = ("scavenger_hunts:\(hunt.id)", "checkpoint_submissions:\(hunt.id)")
      // Both see the hunt, as members of its group. Each on a channel with its name, which takes rows as well.
      for member in [bob, carol] {
        try await member.join(topic, postgresChanges: Self.everything)
        #expect(try await member.socket.join("realtime:\(submissions)", member.user.access).status == "error")
      }
      func count(_ table: String, at listener: ChannelListener, on channel: String) -> Int {
        listener.changes(on: channel).count { $0["table"]?.string == table }
      }
      // Bob takes part from now on; his channel is open already.
      try await bob.user.rest(.POST, "scavenger_hunts/\(hunt.id)/join")
      try await eventually("he takes part") { count("hunt_participants", at: bob, on: topic) == 1 }
      try await bob.user.rest(.POST, "checkpoint_submissions", ["checkpoint_id": .string(hunt.checkpoint)])
      let shown: JSONValue = ["hunt_id": .string(hunt.id), "user_id": .string(bob.user.id.description)]
      for person in [bob, carol] {
        // What the leaderboard shows to everybody.
        #expect(try await person.payload("checkpoint_submitted", on: topic) == shown)
      }
      let table = "checkpoint_submissions"
      try await eventually("his submission") { count(table, at: bob, on: topic) == 1 }
      try await eventually("his submission") { count(table, at: alice, on: "any name") == 1 }

      try await bob.user.rest(.DELETE, "hunt_participants?hunt_id=eq.\(hunt.id)&user_id=eq.\(bob.user.id)")
      try await carol.user.rest(.POST, "scavenger_hunts/\(hunt.id)/join")
      try await eventually("she takes part, and he does not") { count("hunt_participants", at: carol, on: topic) == 3 }
      try await carol.user.rest(.POST, "checkpoint_submissions", ["checkpoint_id": .string(hunt.checkpoint)])
      try await eventually("her submission") { count(table, at: carol, on: topic) == 1 }
      try await eventually("both") { bob.names(on: topic).count { $0 == "checkpoint_submitted" } == 2 }
      #expect(count(table, at: bob, on: topic) == 1)
      let hers = carol.changes(on: topic).last { $0["table"]?.string == table }
      #expect(hers?["record"]?["user_id"]?.string == carol.user.id.description)
    }
  }

  @Test(arguments: engines) func theHuntsOfAGroupReachItsMembers(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let group = try await stack.signIn("alice").rest(.POST, "social_groups", ["name": "Ours"]).first
      let (alice, bob) = (try await watcher("alice", stack), try await watcher("bob", stack))
      let (carol, mallory) = (try await watcher("carol", stack), try await watcher("mallory", stack))
      let code = JSONValue.string(group?["invite_code"] as? String ?? "")
      try await bob.user.rest(.POST, "social_groups/join", ["invite_code": code])
      let hunt = try await alice.user.draftHunt(of: group?["id"] as? String)
      let (table, path) = ("scavenger_hunts", "scavenger_hunts?id=eq.\(hunt.id)")
      let his = "group_members?group_id=eq.\(group?["id"] as? String ?? "")&user_id=eq.\(bob.user.id)"
      for member in [alice, bob] { try await expect(["INSERT"], of: table, at: member) }
      // Carol joins later, and gets what happens from then on.
      try await carol.user.rest(.POST, "social_groups/join", ["invite_code": code])
      let own = try await ChannelListener(carol.user, stack)
      try await own.join("users:\(carol.user.id)")
      _ = try await own.event("hunts_shown", on: "users:\(carol.user.id)")
      try await alice.user.rest(.PATCH, path, ["title": "Town"])
      for member in [alice, bob] { try await expect(["INSERT", "UPDATE"], of: table, at: member) }
      try await expect(["UPDATE"], of: table, at: carol)
      // Who leaves gets nothing more, and a stranger has had nothing.
      try await bob.user.rest(.DELETE, his)
      let left = try await ChannelListener(bob.user, stack)
      try await left.join("users:\(bob.user.id)")
      _ = try await left.event("hunts_hidden", on: "users:\(bob.user.id)")
      try await alice.user.rest(.PATCH, path, ["title": "City"])
      try await expect(["UPDATE", "UPDATE"], of: table, at: carol)
      #expect(rows(bob, table) == ["INSERT", "UPDATE"])
      #expect(try await mallory.socket.settled().filter { $0.event == "postgres_changes" }.isEmpty)
    }
  }

  @Test(arguments: engines) func rowsOfListsTasksAndPhotosReachTheirReaders(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let (alice, bob) = (try await watcher("alice", stack), try await watcher("bob", stack))
      let mallory = try await watcher("mallory", stack)
      let app = alice.user.browser
      let list = try await app.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
      let path = "/api/v1/lists/\(list)"
      try await expect(["INSERT"], of: "lists", at: alice)
      try await app.done(
        .POST, "\(path)/memberships", ["membership": ["user_identifier": "bob@example.com", "role": "editor"]])
      let task = try await app.done(.POST, "\(path)/tasks", ["task": ["title": "Milk"]]).id(of: "task")
      try await bob.user.browser.done(.PATCH, "/api/v1/tasks/\(task)", ["task": ["title": "Oat milk"]])
      try await app.done(.DELETE, "/api/v1/tasks/\(task)")
      try await app.done(.PATCH, path, ["list": ["name": "Shopping"]])
      for member in [alice, bob] {
        try await expect(["INSERT", "UPDATE", "DELETE"], of: "tasks", at: member)
        let rows = member.changes(on: "any name").filter { $0["table"]?.string == "tasks" }
        #expect(rows[1]["record"]?["title"] == "Oat milk" && rows[1]["record"]?["id"] == .integer(task))
        #expect(rows[2]["old_record"]?["id"] == .integer(task))
      }
      try await expect(["INSERT", "UPDATE"], of: "lists", at: alice)
      try await expect(["UPDATE"], of: "lists", at: bob)

      let id = try await app.done(.POST, "/api/groups", ["name": "The Cabin"]).string("id")
      let group = try #require(GroupID(id))
      try await stack.addMember(bob.user, in: group, by: alice.user)
      let photo = try await alice.user.send(SamplePhotos.jpeg, to: group).string("photo_id")
      try await app.done(.DELETE, "/api/photos/\(photo)")
      for member in [alice, bob] { try await expect(["INSERT", "DELETE"], of: "photos", at: member) }
      #expect(bob.changes(on: "any name").contains { $0["record"]?["id"] == .string(photo) })
      #expect(try await mallory.socket.settled().filter { $0.event == "postgres_changes" }.isEmpty)
    }
  }

  @Test(arguments: engines) func aFilterChoosesAmongTheRowsThatOneSees(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let filters = [
        #"{"event":"*","schema":"public","table":"saved_places","filter":"user_id=eq.\#(alice.id)"}"#,
        #"{"event":"UPDATE","schema":"public","table":"scavenger_hunts","filter":"status=eq.active"}"#,
      ].joined(separator: ",")
      var listeners: [ChannelListener] = []
      for user in [alice, bob] {
        let listener = try await ChannelListener(user, stack)
        let reply = try await listener.socket.join(Self.channel, user.access, #""postgres_changes":[\#(filters)]"#)
        #expect(reply.status == "ok")
        listeners.append(listener)
      }
      // Bob names Alice in his filter, which makes none of her rows his.
      _ = try await alice.insert("saved_places", ["name": "Home"])
      _ = try await bob.insert("saved_places", ["name": "Work"])
      let hunt = try await alice.draftHunt()
      try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", ["title": "Town"])
      try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", ["status": "active"])
      func received(_ listener: ChannelListener) -> [String?] {
        listener.changes(on: "any name").map { $0["record"]?["name"]?.string ?? $0["record"]?["status"]?.string }
      }
      try await eventually("what she has asked for") { received(listeners[0]) == ["Home", "active"] }
      #expect(try await listeners[1].socket.settled().filter { $0.event == "postgres_changes" }.isEmpty)
    }
  }
}
