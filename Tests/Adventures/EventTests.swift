import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// What is told on the channels of the contract.
@Suite struct EventTests {
  @Test(arguments: engines) func everyChangeIsToldOnItsChannel(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let place = try await alice.insert("saved_places", #"{"name": "Here"}"#).text("id")
      _ = try await alice.rest(.DELETE, "saved_places?id=eq.\(place)")
      let hunt = try await alice.makeHunt()
      #expect(try await bob.join(hunt).status == 200)
      let photo = #"{"checkpoint_id": "\#(hunt.checkpoints[0])", "photo_url": "https://x.example/secret.jpg"}"#
      #expect(try await bob.rest(.POST, "checkpoint_submissions", photo).status == 201)
      let end = stack.clock.now.addingTimeInterval(60).formatted(.iso8601)
      let share = #"{"route_data": {}, "recipients": ["\#(bob.id)"], "expires_at": "\#(end)"}"#
      try await alice.insert("eta_shares", share)
      stack.clock.advance(by: .seconds(61))

      try await expect(["saved_place_added", "saved_place_removed"], on: "saved_places:\(alice.id)", receiver)
      try await expect(
        ["hunt_created", "checkpoint_changed", "hunt_started", "participant_joined", "checkpoint_submitted"],
        on: "scavenger_hunts:\(hunt.id)", receiver)
      try await expect(["eta_shared", "eta_ended"], on: "eta_shares:\(bob.id)", receiver)
      try await expect(["eta_shared", "eta_ended"], on: "eta_shares:\(alice.id)", receiver)

      let checkpoint = receiver.events(on: "scavenger_hunts:\(hunt.id)").first { $0.name == "checkpoint_changed" }
      #expect(checkpoint?.change?.table == "hunt_checkpoints" && checkpoint?.change?.type == .insert)
      #expect(checkpoint?.change?.record?["id"] == .string(hunt.checkpoints[0]))
      let added = try #require(receiver.events(on: "saved_places:\(alice.id)").first)
      #expect(added.change?.table == "saved_places" && added.change?.type == .insert)
      #expect(added.change?.record?["name"] == .string("Here"))
      let told = try receiver.events.map { String(decoding: try JSON.encode($0), as: UTF8.self) }.joined()
      #expect(!told.contains("secret.jpg") && !told.contains(hunt.code))
    }
  }

  @Test(arguments: engines) func aHuntThatIsCancelledIsTold(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      let (hunt, draft) = (try await alice.makeHunt(), try await alice.makeHunt(isActive: false))
      for hunt in [hunt, draft] {
        _ = try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", #"{"status": "cancelled"}"#)
        _ = try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", #"{"title": "Town"}"#)
      }
      let names = ["hunt_created", "checkpoint_changed", "hunt_started", "hunt_cancelled", "hunt_changed"]
      try await expect(names, on: "scavenger_hunts:\(hunt.id)", receiver)
      let cancelled = receiver.events(on: "scavenger_hunts:\(hunt.id)")[3]
      #expect(cancelled.payload == .object(["hunt_id": .string(hunt.id), "status": "cancelled"]))
      #expect(cancelled.change?.type == .update && cancelled.change?.record?["status"] == "cancelled")
      // A draft is deleted, not cancelled.
      try await expect(
        ["hunt_created", "checkpoint_changed", "hunt_changed"], on: "scavenger_hunts:\(draft.id)", receiver)
    }
  }

  @Test(arguments: engines) func aHuntWhoseTimeIsOverIsTold(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      let (ending, completed) = (try await alice.makeHunt(), try await alice.makeHunt())
      let draft = try await alice.makeHunt(isActive: false)
      func end(_ hunt: TestHunt, after seconds: TimeInterval) async throws {
        let end = stack.clock.now.addingTimeInterval(seconds).formatted(.iso8601)
        let changed = try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", #"{"end_time": "\#(end)"}"#)
        #expect(changed.status < 300, "\(changed.text)")
      }
      func ends(_ hunt: TestHunt) -> [FeedEvent] {
        receiver.events(on: "scavenger_hunts:\(hunt.id)").filter { $0.name == "hunt_ended" }
      }
      for hunt in [ending, completed, draft] { try await end(hunt, after: 60) }
      let path = "scavenger_hunts?id=eq.\(completed.id)"
      #expect(try await alice.rest(.PATCH, path, #"{"status": "completed"}"#).status < 300)
      stack.clock.advance(by: .seconds(61))
      try await eventually("the end") { ends(ending).count == 1 }
      #expect(ends(ending).first?.payload == .object(["hunt_id": .string(ending.id)]))
      // One that is moved comes again. The others are not running.
      try await end(ending, after: 60)
      #expect(ends(ending).count == 1)
      stack.clock.advance(by: .seconds(61))
      try await eventually("the next end") { ends(ending).count == 2 }
      #expect(ends(completed).isEmpty && ends(draft).isEmpty)
    }
  }

  /// In time, although nothing is looked for in this hour but what a change has told of.
  @Test(arguments: engines) func anEndIsToldWhenItComes(_ engine: Engine) async throws {
    try await withEvents(of: engine, pollInterval: .seconds(3600)) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt()
      // Late enough for what comes before it on a busy machine.
      let end = stack.clock.now.addingTimeInterval(15).formatted(.iso8601)
      let changed = try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", #"{"end_time": "\#(end)"}"#)
      #expect(changed.status == 200, "\(changed.text)")
      let share = #"{"route_data": {}, "recipients": ["\#(bob.id)"], "expires_at": "\#(end)"}"#
      try await alice.insert("eta_shares", share)
      for (topic, name) in [("scavenger_hunts:\(hunt.id)", "hunt_ended"), ("eta_shares:\(bob.id)", "eta_ended")] {
        try await eventually("\(name)") { receiver.events(on: topic).contains { $0.name == name } }
      }
      #expect(stack.clock.now.formatted(.iso8601) >= end)
    }
  }

  @Test(arguments: engines) func whoTakesPartIsNotifiedOfTheStart(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt(isActive: false)
      #expect(try await bob.join(hunt).status == 200)
      let path = "scavenger_hunts?id=eq.\(hunt.id)"
      #expect(try await alice.rest(.PATCH, path, #"{"status": "active"}"#).status < 300)
      #expect(try await alice.rest(.PATCH, path, #"{"title": "Town"}"#).status < 300)
      let topic = "scavenger_hunts:\(hunt.id)"
      let names = ["hunt_created", "checkpoint_changed", "participant_joined", "hunt_started", "hunt_changed"]
      try await expect(names, on: topic, receiver)
      let pushes = receiver.events(on: topic).map(\.push)
      #expect(Set(pushes[3]?.recipients ?? []).subtracting([alice.id]) == [bob.id])
      #expect(pushes[3]?.actor == alice.id && pushes[3]?.subject == "City")
      #expect(pushes[4] == nil)
    }
  }

  @Test(arguments: engines) func topicsAreForThoseWhoSeeTheHunt(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, mallory) = (try await stack.signIn("alice"), try await stack.signIn("mallory"))
      let bob = try await stack.signIn("bob")
      let group = try await stack.makeGroup(alice, with: [bob])
      let hunt = try await alice.makeHunt(group: group.id)
      let events = stack.adventures.with(stack.with(key: "events"))
      func mayRead(_ topic: String, _ user: SignedInUser) async throws -> Bool? {
        try await events.get("/internal/topics/access?topic=\(topic)&user_id=\(user.id)").bool("read")
      }
      let (seen, submissions) = ("scavenger_hunts:\(hunt.id)", "checkpoint_submissions:\(hunt.id)")
      for topic in [seen, submissions] {
        #expect(try await mayRead(topic, alice) == true, "\(topic)")
        #expect(try await mayRead(topic, mallory) == false, "\(topic)")
      }
      // As a member of its group, who sees the hunt, and its submissions only as a participant.
      try await stack.forgetGroups(of: bob)
      #expect(try await mayRead(seen, bob) == true)
      #expect(try await mayRead(submissions, bob) == false)
      #expect(try await bob.rest(.POST, "scavenger_hunts/\(hunt.id)/join").status == 200)
      #expect(try await mayRead(submissions, bob) == true)
      let path = "/internal/topics/access?topic=\(seen)&user_id=\(alice.id)"
      #expect(try await stack.adventures.with(stack.with(key: "lists")).get(path).status == 403)
      for (user, topics) in [(alice, [seen, submissions]), (bob, [seen, submissions]), (mallory, [])] {
        #expect(try await events.get("/internal/topics?user_id=\(user.id)")["topics"] as? [String] == topics)
      }
    }
  }

  /// What somebody reads already they read from when they were let in.
  @Test(arguments: engines) func whoTakesPartIsLetIntoWhatTheyCouldNotRead(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let group = try await stack.makeGroup(alice, with: [bob])
      let hunt = try await alice.makeHunt(group: group.id)
      try await stack.forgetGroups(of: bob)
      for user in [alice, bob, carol] { #expect(try await user.join(hunt).status == 200) }
      let (seen, submissions) = ("scavenger_hunts:\(hunt.id)", "checkpoint_submissions:\(hunt.id)")
      for (user, topics) in [(alice, []), (bob, [submissions]), (carol, [seen, submissions])] {
        let expected = topics.map { AccessChange(topic: $0, user: user.id, mayRead: true) }
        try await eventually("the participation of \(user.id)") {
          let joined = receiver.events(on: "users:\(user.id)").last { $0.name == "participant_joined" }
          return joined.map { $0.access ?? [] } == expected
        }
      }
    }
  }

  @Test(arguments: engines) func aHuntOfAGroupIsOpenToItsMembers(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let (carol, dave) = (try await stack.signIn("carol"), try await stack.signIn("dave"))
      let group = try await stack.makeGroup(alice, with: [bob])
      let hunt = try await alice.makeHunt(group: group.id)
      let (topic, submissions) = ("scavenger_hunts:\(hunt.id)", "checkpoint_submissions:\(hunt.id)")
      try await eventually("the hunt") { receiver.events(on: topic).contains { $0.name == "hunt_created" } }
      let created = try #require(receiver.events(on: topic).first)
      #expect(
        Set(created.access ?? []) == [
          AccessChange(topic: topic, user: alice.id, mayRead: true),
          AccessChange(topic: submissions, user: alice.id, mayRead: true),
          AccessChange(topic: topic, user: bob.id, mayRead: true),
        ])

      // Carol takes part by the code before she joins the group, and has what she reads already.
      #expect(try await carol.join(hunt).status == 200)
      let other = try await alice.makeHunt(group: group.id)
      for user in [carol, dave] {
        let joined = try await user.rest(.POST, "social_groups/join", #"{"invite_code": "\#(group.code)"}"#)
        #expect(joined.status == 200)
      }
      for (user, hunts) in [(carol, [other.id]), (dave, [hunt.id, other.id])] {
        let expected = hunts.map { AccessChange(topic: "scavenger_hunts:\($0)", user: user.id, mayRead: true) }
        try await eventually("the hunts of \(user.id)") {
          let shown = receiver.events(on: "users:\(user.id)").filter { $0.name == "hunts_shown" }
          return shown.last?.payload == .object(["group_id": .string(group.id)])
            && Set(shown.flatMap { $0.access ?? [] }) == Set(expected)
        }
      }
    }
  }

  private func access(of user: SignedInUser, to hunt: TestHunt, _ stack: TestStack) async throws -> Bool? {
    try await stack.adventures.with(stack.with(key: "events"))
      .get("/internal/topics/access?topic=scavenger_hunts:\(hunt.id)&user_id=\(user.id)").bool("read")
  }

  private func shown(to user: SignedInUser, _ receiver: EventsReceiver) -> Int {
    receiver.events(on: "users:\(user.id)").count { $0.name == "hunts_shown" }
  }

  /// As long as groups has not told of it, or it has got lost: whoever asks is let in first.
  @Test(arguments: engines) func aMemberMayReadOnceTheyWereLetIn(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let group = try await stack.makeGroup(alice)
      let hunt = try await alice.makeHunt(group: group.id)
      let joined = try await bob.rest(.POST, "social_groups/join", #"{"invite_code": "\#(group.code)"}"#)
      #expect(joined.status == 200)
      try await eventually("the hunt") { shown(to: bob, receiver) == 1 }
      let events = stack.adventures.with(stack.with(key: "events"))
      let database = try await stack.testDatabase.open("adventures", [])
      let questions: [@Sendable () async throws -> Bool?] = [
        { try await access(of: bob, to: hunt, stack) },
        {
          let topics = try await events.get("/internal/topics?user_id=\(bob.id)")["topics"] as? [String]
          return topics?.contains("scavenger_hunts:\(hunt.id)")
        },
      ]
      for (number, question) in questions.enumerated() {
        try await eventually("the delivery") { try await stack.count("event_outbox", in: "adventures") == 0 }
        try await database.write { try $0.change("delete from group_reader") }
        receiver.behavior = .hanging
        let isAnswered = Flag()
        let answer = Task {
          let mayRead = try await question()
          isAnswered.raise()
          return mayRead
        }
        try await Task.sleep(for: .milliseconds(300))
        #expect(!isAnswered.isRaised && shown(to: bob, receiver) == number + 1)
        receiver.behavior = .normal
        #expect(try await answer.value == true)
        #expect(shown(to: bob, receiver) == number + 2)
        // Once.
        #expect(try await question() == true)
        #expect(shown(to: bob, receiver) == number + 2)
      }
      await database.close()
    }
  }

  @Test(arguments: engines) func whoIsRemovedWhileTheyAreLetInStaysOut(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let alice = try await stack.signIn("alice")
      var members: [SignedInUser] = []
      for number in 0..<6 { members.append(try await stack.signIn("member\(number)")) }
      let group = try await stack.makeGroup(alice, with: members)
      let hunt = try await alice.makeHunt(group: group.id)
      let database = try await stack.testDatabase.open("adventures", [])
      try await eventually("the members") { try await stack.count("group_reader", in: "adventures") >= members.count }
      try await database.write { try $0.change("delete from group_reader") }
      await database.close()
      _ = try await atOnce(2 * members.count) { [members] number in
        let member = members[number / 2]
        if number % 2 == 0 { return try await member.remove(from: group) }
        _ = try await access(of: member, to: hunt, stack)
      }
      for member in members {
        let topic = "scavenger_hunts:\(hunt.id)"
        try await eventually("the end for \(member.id)") {
          let changes = receiver.events(on: "users:\(member.id)").flatMap { $0.access ?? [] }
          return changes.last { $0.topic == topic }?.mayRead == false
        }
        #expect(try await access(of: member, to: hunt, stack) == false)
        let rows = SQL(stringLiteral: "group_reader where user_id = '\(member.id)'")
        #expect(try await stack.count(rows, in: "adventures") == 0)
      }
    }
  }

  private func expect(_ names: [String], on topic: String, _ receiver: EventsReceiver) async throws {
    try await eventually("\(names) on \(topic)") { receiver.events(on: topic).map(\.name) == names }
  }
}
