import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// What a block hides of hunts that two take part in, of photos, and of shared arrival times. It holds both ways,
/// whoever has made it.
@Suite struct BlockTests {
  @Test(arguments: engines) func aBlockEndsAShareThatThereIs(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let body = #"{"route_data": {}, "recipients": ["\#(bob.id)", "\#(carol.id)"], "expires_at": "\#(end)"}"#
      let path = "eta_shares?id=eq.\(try await alice.insert("eta_shares", body).text("id"))"
      for (index, (blocker, other)) in [(alice, bob), (bob, alice)].enumerated() {
        #expect(try await bob.count(path) == 1)
        #expect(try await blocker.browser.post("/users/\(other.id)/block").status == 200)
        try await eventually("the end of the share for bob") { try await bob.rows(path).isEmpty }
        #expect(try await carol.count(path) == 1)
        #expect(try await alice.rows(path).first?["is_active"] as? Bool == true)
        // What changes meanwhile is not told on bob's channel.
        #expect(try await alice.rest(.PATCH, path, #"{"route_data": {"duration": 1}}"#).list.count == 1)
        #expect(try await blocker.browser.delete("/users/\(other.id)/block").status == 200)
        try await eventually("the share") { try await bob.count(path) == 1 }
        try await eventually("the events") { receiver.events(on: "eta_shares:\(bob.id)").count == 3 + 2 * index }
      }
      #expect(
        receiver.events(on: "eta_shares:\(bob.id)").map(\.name)
          == ["eta_shared", "eta_ended", "eta_shared", "eta_ended", "eta_shared"])
      try await eventually("alice's events") {
        receiver.events(on: "eta_shares:\(alice.id)").map(\.name) == ["eta_shared", "eta_changed", "eta_changed"]
      }
    }
  }

  @Test(arguments: engines) func aBlockThatComesWithAShareHidesIt(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let body = #"{"route_data": {}, "recipients": ["\#(bob.id)"], "expires_at": "\#(end)"}"#
      for round in 1...10 {
        let statuses = try await atOnce(6) { number in
          number == 3
            ? try await bob.browser.post("/users/\(alice.id)/block").status
            : try await alice.rest(.POST, "eta_shares", body).status
        }
        #expect(statuses.sorted() == [200, 201, 201, 201, 201, 201])
        try await eventually("the end of the shares") { try await bob.count("eta_shares") == 0 }
        #expect(try await alice.count("eta_shares") == 5 * round)
        #expect(try await bob.browser.delete("/users/\(alice.id)/block").status == 200)
        try await eventually("the shares") { try await bob.count("eta_shares") == 5 * round }
      }
    }
  }

  @Test(arguments: engines) func inTheSameHuntNeitherSeesWhatTheOtherSubmits(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let group = try await stack.makeGroup(alice, with: [bob, carol])
      let hunt = try await alice.makeHunt(points: [5, 7], group: group.id)
      try await stack.forgetGroups(of: alice, bob, carol)
      for person in [bob, carol] { #expect(try await person.join(hunt).status == 200) }
      let photo = try await bob.store("door.jpg", in: "photos")
      let url = "https://kith.example/storage/v1/object/\(photo)"
      let submission = #"{"checkpoint_id": "\#(hunt.checkpoints[0])", "photo_url": "\#(url)"}"#
      #expect(try await bob.rest(.POST, "checkpoint_submissions", submission).status == 201)
      #expect(try await carol.submit(hunt.checkpoints[0]).status == 201)
      let board = "hunt_leaderboard?hunt_id=eq.\(hunt.id)&order=id"
      for person in [alice, bob, carol] { #expect(try await person.count("checkpoint_submissions") == 2) }
      #expect(try await carol.mayRead(photo))

      #expect(try await carol.browser.post("/users/\(bob.id)/block").status == 200)
      for (one, other) in [(carol, bob), (bob, carol)] {
        try await eventually("the end of the other's submission") {
          try await one.rows("checkpoint_submissions").map { $0.text("user_id") } == ["\(one.id)"]
        }
        let embedded = "hunt_checkpoints?id=eq.\(hunt.checkpoints[0])&select=checkpoint_submissions(user_id)"
        #expect(try await !one.rest(.GET, embedded).text.contains("\(other.id)"))
        // They play the same game, without knowing against whom.
        let rows = try await one.rows(board)
        #expect(rows.map { $0.int("score") } == [5, 5])
        let names = Dictionary(uniqueKeysWithValues: rows.map { ($0.text("id"), $0["name"] as? String) })
        #expect(names["\(other.id)"] == .some(nil) && names["\(one.id)"] != .some(nil), "\(names)")
        #expect(try await one.count("scavenger_hunts") == 1)
        #expect(try await one.count("group_members") == 3)
      }
      try await eventually("the end of the photo") { try await !carol.mayRead(photo) }
      #expect(try await alice.mayRead(photo))
      #expect(try await alice.count("checkpoint_submissions") == 2)
      #expect(try await alice.rows(board).allSatisfy { $0["name"] is String })

      #expect(try await carol.browser.delete("/users/\(bob.id)/block").status == 200)
      try await eventually("bob's submission") { try await carol.count("checkpoint_submissions") == 2 }
      #expect(try await carol.mayRead(photo))
    }
  }

  @Test(arguments: engines) func whatOneSubmitsIsHiddenFromTheOtherInItsEvents(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let group = try await stack.makeGroup(alice, with: [bob, carol])
      let hunt = try await alice.makeHunt(points: [5, 7], group: group.id)
      try await stack.forgetGroups(of: alice, bob, carol)
      for person in [bob, carol] { #expect(try await person.join(hunt).status == 200) }
      #expect(try await carol.browser.post("/users/\(bob.id)/block").status == 200)
      try await stack.forgetGroups(of: alice, bob, carol)
      for person in [alice, bob, carol] { _ = try await person.submit(hunt.checkpoints[0]) }
      let mine = "checkpoint_submissions?user_id=eq.\(bob.id)"
      #expect(try await alice.rest(.PATCH, mine, #"{"verified": true}"#).status < 300)
      // Of several people at once.
      let all = "checkpoint_submissions?id=not.is.null"
      #expect(try await alice.rest(.PATCH, all, #"{"verified": false}"#).status < 300)

      let topic = "checkpoint_submissions:\(hunt.id)"
      let apart = [bob.id: [carol.id], carol.id: [bob.id]]
      try await eventually("the events") { receiver.events(on: topic).count >= 5 }
      let events = receiver.events(on: topic)
      for event in events {
        let author = event.payload["user_id"]?.text.flatMap { UserID($0) }
        #expect(event.hiddenFrom == author.flatMap { apart[$0] }, "\(event)")
      }
      #expect(Set(events.map(\.name)) == ["checkpoint_submitted", "submission_verified"])
      #expect(events.filter { $0.name == "submission_verified" }.count >= 3)
    }
  }

  @Test(arguments: engines) func whoHasMoreBlocksThanAreNamedSeesOnlyTheirOwn(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let hunt = try await alice.makeHunt()
      for person in [bob, carol] {
        #expect(try await person.join(hunt).status == 200)
        #expect(try await person.submit(hunt.checkpoints[0]).status == 201)
      }
      #expect(try await carol.count("checkpoint_submissions") == 2)
      #expect(try await carol.browser.post("/users/\(bob.id)/block").status == 200)
      try await stack.block(carol, bySoMany: MemberOfGroups.blockedMax)
      #expect(try await carol.rows("checkpoint_submissions").map { $0.text("user_id") } == ["\(carol.id)"])
      let board = try await carol.rows("hunt_leaderboard?hunt_id=eq.\(hunt.id)")
      #expect(board.filter { $0["name"] is String }.map { $0.text("id") } == ["\(carol.id)"])
      #expect(try await alice.count("checkpoint_submissions") == 2)
    }
  }

  @Test(arguments: engines) func whoHasMoreBlocksThanAreNamedIsToldOfTheirOwnAlone(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let carol = try await stack.signIn("carol")
      let hunt = try await alice.makeHunt(points: [5, 7])
      for person in [bob, carol] { #expect(try await person.join(hunt).status == 200) }
      let (topic, own) = ("checkpoint_submissions:\(hunt.id)", "users:\(carol.id)")
      let names = ["checkpoint_submitted", "submission_verified"]
      // One less are all named.
      try await stack.block(carol, bySoMany: MemberOfGroups.blockedMax - 1)
      #expect(try await carol.submit(hunt.checkpoints[0]).status == 201)
      try await eventually("the event") { receiver.events(on: topic).map(\.name) == [names[0]] }
      #expect(receiver.events(on: topic).first?.hiddenFrom?.count == MemberOfGroups.blockedMax - 1)

      #expect(try await carol.browser.post("/users/\(bob.id)/block").status == 200)
      try await stack.forgetGroups(of: alice, bob, carol)
      #expect(try await carol.submit(hunt.checkpoints[1]).status == 201)
      let theirs = "checkpoint_submissions?checkpoint_id=eq.\(hunt.checkpoints[1])"
      #expect(try await alice.rest(.PATCH, theirs, #"{"verified": true}"#).list.count == 1)
      try await eventually("the events") {
        receiver.events(on: own).filter { names.contains($0.name) }.map(\.name) == names
      }
      try await eventually("what takes their place") {
        receiver.events(on: topic).map(\.name) == [names[0], "hidden", "hidden"]
      }
      for event in receiver.events(on: topic).dropFirst() {
        #expect(event.payload == .object([:]) && event.change == nil && event.topics == [topic], "\(event)")
      }
      for event in receiver.events(on: own) where names.contains(event.name) {
        #expect(event.change?.record?["user_id"] == .string("\(carol.id)") && event.topics == [own], "\(event)")
      }
    }
  }

  /// Its creator, who takes part in it, may name a submission of somebody else: nothing of it changes.
  @Test(arguments: engines) func anUpsertOfAnothersSubmissionIsAnswered(_ engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt()
      for person in [alice, bob] { #expect(try await person.join(hunt).status == 200) }
      let theirs = try await bob.submit(hunt.checkpoints[0]).list.first?.text("id") ?? ""
      let body = #"{"id": "\#(theirs)", "checkpoint_id": "\#(hunt.checkpoints[0])"}"#
      let merge = "resolution=merge-duplicates,return=representation"
      let merged = try await alice.rest(.POST, "checkpoint_submissions", body, prefer: merge)
      #expect(merged.status == 200 && merged.list.first?.text("user_id") == "\(bob.id)", "\(merged.text)")
      #expect(try await bob.rest(.POST, "checkpoint_submissions", body, prefer: merge).status == 409)
      #expect(try await alice.count("checkpoint_submissions") == 1)
      // It is told as a change, not as a submission of alice's.
      let topic = "scavenger_hunts:\(hunt.id)"
      let expected = ["checkpoint_submitted", "submission_verified"]
      try await eventually("the change") {
        receiver.events(on: "checkpoint_submissions:\(hunt.id)").map(\.name) == expected
      }
      let submitted = receiver.events(on: topic).filter { $0.name == "checkpoint_submitted" }
      #expect(submitted.count == 1 && submitted.first?.payload["user_id"] == .string("\(bob.id)"))
    }
  }

  @Test(arguments: engines) func onlyGroupsTellsOfBlocks(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let path = "/internal/adventures/blocks"
      let body = ["one": alice.id.description, "other": bob.id.description]
      let groups = stack.adventures.with(stack.with(key: "groups"))
      #expect(try await groups.post(path, body).status == 204)
      for key in ["auth", "lists", "plain", "gateway"] {
        #expect(try await stack.adventures.with(stack.with(key: key)).post(path, body).status == 403, "\(key)")
      }
      #expect(try await alice.browser.post(path, body).status == 404)
      for wrong in [["other": "bob"], ["other": alice.id.description]] {
        #expect(try await groups.post(path, body.merging(wrong) { $1 }).status == 422, "\(wrong)")
      }
    }
  }
}

extension TestStack {
  /// Users who are nobody else block `user`. Their ids are the smallest of all, and are named first.
  fileprivate func block(_ user: SignedInUser, bySoMany count: Int) async throws {
    let groups = try await testDatabase.open("groups", [])
    try await groups.write { [user = user.id] db in
      for second in 1...count {
        let time = Date(timeIntervalSince1970: Double(second))
        try db.change(
          """
          insert into block (blocker_id, blocked_id, created_at) values (\(UserID.new(at: time)), \(user), \(time))
          """)
      }
    }
    await groups.close()
    try await forgetGroups(of: user)
  }
}
