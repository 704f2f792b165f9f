import Clients
import Database
import Foundation
import Support
import Testing
import Wire

/// What happens in any service arrives on the channel of its thing: all services, real sockets through the gateway. A
/// payload has the members that are documented, and no others.
@Suite struct NamedEventTests {
  @Test(arguments: engines) func everythingThatHappensArrivesAtItsChannel(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let alice = try await ChannelListener(stack.signIn("alice"), stack)
      let bob = try await ChannelListener(stack.signIn("bob"), stack, version: "1.0.0")
      for person in [alice, bob] {
        let id = person.user.id
        try await person.join("users:\(id)", "saved_places:\(id)", "adventures:\(id)", "eta_shares:\(id)")
      }
      try await placesAndAdventures(alice)
      let hunt = try await hunts(alice, bob)
      try await arrivalTimes(alice, bob, at: stack.clock.now)
      let list = try await lists(alice, bob)
      let group = try await groups(alice, bob, stack)
      try await account(alice, bob, stack)

      // Whoever reads none of the things joins none of their channels.
      let mallory = try await ChannelListener(stack.signIn("mallory"), stack)
      let own = ["users", "saved_places", "adventures", "eta_shares"].map { "\($0):\(alice.user.id)" }
      for topic in own + [hunt, hunt.replacing("scavenger_hunts", with: "checkpoint_submissions"), list, group] {
        let reply = try await mallory.socket.join("realtime:\(topic)", mallory.user.access)
        #expect(reply.reason?.hasPrefix("Unauthorized:") == true, "\(topic)")
      }
      for secret in ["secret.jpg", "invite_code", alice.user.refresh, "a secret note"] {
        #expect(!alice.received.contains(secret) && !bob.received.contains(secret), "\(secret)")
      }
    }
  }

  private func placesAndAdventures(_ alice: ChannelListener) async throws {
    let places = "saved_places:\(alice.user.id)"
    let place = try await alice.user.insert("saved_places", ["name": "Here"])
    #expect(try await alice.payload("saved_place_added", on: places) == ["place_id": .string(place)])
    try await alice.user.rest(.DELETE, "saved_places?id=eq.\(place)")
    #expect(try await alice.payload("saved_place_removed", on: places) == ["place_id": .string(place)])

    let adventures = "adventures:\(alice.user.id)"
    let plan = try await alice.user.insert("adventure_plans", ["title": "A walk"])
    #expect(try await alice.payload("adventure_added", on: adventures) == ["adventure_id": .string(plan)])
    try await alice.user.rest(.PATCH, "adventure_plans?id=eq.\(plan)", ["status": "active"])
    #expect(try await alice.payload("adventure_changed", on: adventures) == ["adventure_id": .string(plan)])
    try await alice.user.rest(.DELETE, "adventure_plans?id=eq.\(plan)")
    #expect(try await alice.payload("adventure_removed", on: adventures) == ["adventure_id": .string(plan)])
  }

  /// - Returns: the topic.
  private func hunts(_ alice: ChannelListener, _ bob: ChannelListener) async throws -> String {
    let hunt = try await alice.user.draftHunt()
    let (id, topic) = (JSONValue.string(hunt.id), "scavenger_hunts:\(hunt.id)")
    let his = JSONValue.string(bob.user.id.description)
    try await alice.join(topic)
    try await bob.user.rest(.POST, "scavenger_hunts/join", ["invite_code": .string(hunt.code)])
    #expect(try await alice.payload("participant_joined", on: topic) == ["hunt_id": id, "user_id": his])
    _ = try await bob.event("participant_joined", on: "users:\(bob.user.id)")
    let submissions = "checkpoint_submissions:\(hunt.id)"
    try await bob.join(topic, submissions, since: nil)
    try await alice.user.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", ["status": "active"])
    #expect(try await bob.payload("hunt_started", on: topic) == ["hunt_id": id, "status": "active"])
    try await bob.user.rest(
      .POST, "checkpoint_submissions",
      ["checkpoint_id": .string(hunt.checkpoint), "photo_url": "https://x.example/secret.jpg"])
    #expect(try await alice.payload("checkpoint_submitted", on: topic) == ["hunt_id": id, "user_id": his])
    #expect(
      try await bob.payload("checkpoint_submitted", on: submissions)
        == ["hunt_id": id, "checkpoint_id": .string(hunt.checkpoint), "user_id": his])
    try await alice.user.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", ["status": "completed"])
    #expect(try await bob.payload("hunt_completed", on: topic) == ["hunt_id": id, "status": "completed"])
    try await bob.user.rest(.DELETE, "hunt_participants?hunt_id=eq.\(hunt.id)&user_id=eq.\(bob.user.id)")
    #expect(try await alice.payload("participant_left", on: topic) == ["hunt_id": id, "user_id": his])
    _ = try await bob.event("participant_left", on: "users:\(bob.user.id)")
    for channel in [topic, submissions] {
      #expect(try await bob.end(of: channel)?.contains("no longer have permission") == true)
    }
    return topic
  }

  private func arrivalTimes(_ alice: ChannelListener, _ bob: ChannelListener, at now: Date) async throws {
    let (hers, his) = ("eta_shares:\(alice.user.id)", "eta_shares:\(bob.user.id)")
    let share = try await alice.user.share(["minutes": 20], with: bob.user.id, at: now)
    let payload: JSONValue = ["share_id": .string(share), "user_id": .string(alice.user.id.description)]
    #expect(try await bob.payload("eta_shared", on: his) == payload)
    try await alice.user.rest(.PATCH, "eta_shares?id=eq.\(share)", ["route_data": ["minutes": 12]])
    #expect(try await bob.payload("eta_changed", on: his) == payload)
    try await alice.user.rest(.PATCH, "eta_shares?id=eq.\(share)", ["is_active": false])
    #expect(try await bob.payload("eta_ended", on: his) == payload)
    #expect(try await alice.payload("eta_ended", on: hers) == payload)
    #expect(alice.names(on: hers) == ["eta_shared", "eta_changed", "eta_ended"])
    #expect(bob.names(on: his) == alice.names(on: hers))
  }

  /// - Returns: the topic.
  private func lists(_ alice: ChannelListener, _ bob: ChannelListener) async throws -> String {
    let app = alice.user.browser
    let list = try await app.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
    let (path, topic) = ("/api/v1/lists/\(list)", "lists:\(list)")
    try await alice.join(topic)
    let member = try await app.done(
      .POST, "\(path)/memberships", ["membership": ["user_identifier": "bob@example.com", "role": "editor"]]
    ).id(of: "membership")
    let joined = try await alice.payload("member_joined", on: topic)
    #expect(Set(joined.members.keys) == ["list_id", "membership_id", "user_id", "role", "by"])
    #expect(joined["user_id"] == .string(bob.user.id.description) && joined["role"] == "editor")
    try await bob.join(topic, since: nil)
    let made: [String: any Sendable] = ["title": "Milk", "note": "a secret note"]
    let task = try await app.done(.POST, "\(path)/tasks", ["task": made]).id(of: "task")
    let members: Set<String> = ["task_id", "list_id", "parent_task_id", "assignee_id", "version", "by"]
    let created = try await bob.payload("task_created", on: topic)
    #expect(Set(created.members.keys) == members && created["task_id"] == .integer(task))
    try await app.done(.PATCH, "/api/v1/tasks/\(task)", ["task": ["title": "Oat milk"]])
    #expect(Set(try await bob.payload("task_changed", on: topic).members.keys) == members)
    try await app.done(.PATCH, path, ["list": ["name": "Shopping"]])
    #expect(Set(try await bob.payload("list_changed", on: topic).members.keys) == ["list_id", "by", "version"])
    try await app.done(.DELETE, "\(path)/memberships/\(member)")
    let removed = try await alice.payload("member_removed", on: topic)
    #expect(Set(removed.members.keys) == ["list_id", "membership_id", "user_id", "by"])
    #expect(try await bob.end(of: topic) == "You no longer have permission to read from this Channel topic: \(topic)")
    return topic
  }

  /// - Returns: the topic.
  private func groups(_ alice: ChannelListener, _ bob: ChannelListener, _ stack: TestStack) async throws -> String {
    let id = try await alice.user.browser.done(.POST, "/api/groups", ["name": "The Cabin"]).string("id")
    let (group, topic) = (try #require(GroupID(id)), "social_groups:\(id)")
    try await alice.join(topic)
    try await stack.addMember(bob.user, in: group, by: alice.user)
    let (hers, his) = (JSONValue.string(alice.user.id.description), JSONValue.string(bob.user.id.description))
    // After her own.
    try await eventually("his membership") { try await alice.payload("member_joined", on: topic)["user_id"] == his }
    let joined = try await alice.payload("member_joined", on: topic)
    #expect(Set(joined.members.keys) == ["group_id", "user_id", "by"])
    try await bob.join(topic, since: nil)
    let sent = try await alice.user.send(SamplePhotos.jpeg, to: group)
    #expect(sent.status < 300, "\(sent.text)")
    let photo = try await bob.payload("photo_sent", on: topic)
    #expect(Set(photo.members.keys) == ["photo_id", "group_id", "sender_id"] && photo["sender_id"] == hers)
    try await bob.user.browser.done(.DELETE, "/api/groups/\(id)")
    #expect(
      try await alice.payload("member_left", on: topic) == ["group_id": .string(id), "user_id": his, "by": his])
    #expect(try await bob.end(of: topic)?.contains("no longer have permission") == true)
    return topic
  }

  private func account(_ alice: ChannelListener, _ bob: ChannelListener, _ stack: TestStack) async throws {
    let (app, own) = (alice.user.browser, "users:\(alice.user.id)")
    let made = try await app.done(.POST, "/collections", ["name": "Marbles"])
    let id = (made["data"] as? [String: Any])?["id"] as? String ?? ""
    let link = try await app.done(.POST, "/collections/\(id)/invites", ["role": "EDITOR"])
    let invite = (link["data"] as? [String: Any])?["id"] as? String ?? ""
    try await bob.user.browser.done(.POST, "/invites/\(invite)/accept")
    let accepted = try await alice.payload("invite_accepted", on: own)
    #expect(Set(accepted.members.keys) == ["invite_id", "user_id", "role", "collection_id"])
    #expect(accepted["user_id"] == .string(bob.user.id.description))

    #expect(try await app.get("/api/v1/credits/balance").int("balance") == 50)
    try await stack.credits.with(stack.with(key: "lists")).done(
      .POST, "/internal/credits/spend",
      ["user_id": alice.user.id.description, "cost": 8, "transaction_type": "chat"])
    try await eventually("the spend") {
      try await alice.payload("balance_changed", on: own) == ["balance": 42, "amount": -8, "type": "chat"]
    }

    try await app.done(.PATCH, "/rest/v1/users?id=eq.\(alice.user.id)", ["display_name": "Al"])
    #expect(try await alice.payload("account_changed", on: own) == [:])

    let again = try await stack.signIn("alice")
    try await stack.gateway.done(.POST, "/api/v1/auth/logout", ["refresh_token": again.refresh])
    let ended = try await alice.payload("session_ended", on: own)
    #expect(Set(ended.members.keys) == ["session_id", "reason"] && ended["reason"] == "signed_out")

    // A theft ends the session of the socket, too: what has happened is read with the next one.
    let renewal = ["refresh_token": alice.user.refresh]
    #expect(try await stack.gateway.post("/api/v1/auth/refresh", renewal).status == 200)
    #expect(try await stack.gateway.post("/api/v1/auth/refresh", renewal).status == 401)
    #expect(try await alice.end(of: own) == "The session has ended")
    let back = try await ChannelListener(stack.signIn("alice"), stack)
    try await back.join(own)
    let theft = try await back.payload("token_theft_noticed", on: own)
    #expect(Set(theft.members.keys) == ["session_id"])
    // Nobody else reads any of it.
    let names: Set = ["invite_accepted", "account_changed", "session_ended", "token_theft_noticed"]
    #expect(names.isDisjoint(with: bob.names(on: "users:\(bob.user.id)")))
  }
}
