import Database
import Foundation
import NIOHTTP1
import Support
import Testing
import Wire

/// The rules of hunts.
@Suite struct HuntTests {
  @Test(arguments: engines) func huntsGoFromDraftToActiveToTheirEnd(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      for (start, next, status) in [
        ("draft", "completed", 400), ("draft", "cancelled", 400), ("draft", "flying", 400), ("active", "draft", 400),
        ("active", "completed", 200), ("active", "cancelled", 200), ("draft", "active", 200),
      ] {
        let hunt = try await alice.makeHunt(isActive: start == "active")
        let path = "scavenger_hunts?id=eq.\(hunt.id)"
        let reply = try await alice.rest(.PATCH, path, #"{"status": "\#(next)"}"#)
        #expect(reply.status == status, "\(start) → \(next): \(reply.text)")
        if status == 400 { #expect(reply.contractCode == "VALIDATION_ERROR") }
        guard status == 200, next != "active" else { continue }
        #expect(try await alice.rest(.PATCH, path, #"{"status": "active"}"#).status == 400)
      }
      #expect(try await alice.rest(.POST, "scavenger_hunts", #"{"title": "x", "status": "active"}"#).status == 400)
    }
  }

  @Test(arguments: engines) func aStartIsNowUnlessItIsSaid(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let hunt = try await alice.makeHunt(isActive: false)
      let path = "scavenger_hunts?id=eq.\(hunt.id)"
      let before = stack.clock.now
      let started = try await alice.rest(.PATCH, path, #"{"status": "active"}"#).list.first
      let start = try #require(RFC3339.parse(started?.text("start_time") ?? ""))
      // Times of rows are whole seconds.
      #expect((before - 1...stack.clock.now + 1).contains(start))
      // Together with one that has begun, it is not started: that one keeps its time.
      let next = try await alice.makeHunt(isActive: false)
      stack.clock.advance(by: .seconds(5))
      let both = try await alice.rest(.PATCH, "scavenger_hunts?created_by=eq.\(alice.id)", #"{"status": "active"}"#)
      #expect(both.status == 400, "\(both.text)")
      #expect(try await alice.rows(path).first?.text("start_time") == started?.text("start_time"))
      #expect(try await alice.rows("scavenger_hunts?id=eq.\(next.id)").first?.text("status") == "draft")
      // A draft is deleted, an active hunt is not.
      #expect(try await alice.rest(.DELETE, path).status == 204)
      #expect(try await alice.rows(path).count == 1)
      let times = #"{"start_time": "2026-01-02T00:00:00Z", "end_time": "2026-01-01T00:00:00Z"}"#
      #expect(try await alice.rest(.PATCH, path, times).string("code") == "23514")
      let draft = try await alice.makeHunt(isActive: false)
      #expect(try await alice.rest(.DELETE, "scavenger_hunts?id=eq.\(draft.id)").status == 204)
      #expect(try await alice.rows("hunt_checkpoints?hunt_id=eq.\(draft.id)").isEmpty)
    }
  }

  @Test(arguments: engines) func checkpointsAreMadeWithTheirHuntOrNotAtAll(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let refused = try await alice.rest(
        .POST, "scavenger_hunts", #"{"title": "x", "checkpoints": [{"title": "ok"}, {"title": "no", "points": 1001}]}"#)
      #expect(refused.status == 400 && refused.string("code") == "23514", "\(refused.text)")
      for body in [
        #""no""#, "[1]", #"[{"points": 1}]"#, #"[{"title": "x", "location": {"latitude": 91, "longitude": 0}}]"#,
      ] {
        let reply = try await alice.rest(.POST, "scavenger_hunts", #"{"title": "x", "checkpoints": \#(body)}"#)
        #expect(reply.status == 400, "\(body): \(reply.text)")
      }
      #expect(try await alice.rows("scavenger_hunts").isEmpty)
      let hunt = try await alice.makeHunt(points: [1, 2, 3], isActive: false)
      let later = try await alice.insert("hunt_checkpoints", #"{"hunt_id": "\#(hunt.id)", "title": "Last"}"#)
      #expect(later.int("order_index") == 3)
      let found = try await alice.rows(
        "scavenger_hunts?select=title,hunt_checkpoints(points)&hunt_checkpoints.order=order_index")
      let points = (found.first?["hunt_checkpoints"] as? [[String: Any]])?.map { $0.int("points") }
      #expect(points == [1, 2, 3, 10])
      _ = try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", #"{"status": "active"}"#)
      #expect(
        try await alice.rest(.POST, "hunt_checkpoints", #"{"hunt_id": "\#(hunt.id)", "title": "Late"}"#).status == 403)
      #expect(try await alice.rest(.PATCH, "hunt_checkpoints?hunt_id=eq.\(hunt.id)", #"{"points": 5}"#).list.isEmpty)
    }
  }

  @Test(arguments: engines) func onlyOneOfFiftySubmissionsCounts(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt()
      #expect(try await bob.join(hunt).status == 200)
      let replies = try await atOnce(50) { _ in try await bob.submit(hunt.checkpoints[0]) }
      #expect(replies.filter { $0.status == 201 }.count == 1)
      let refused = replies.filter { $0.status != 201 }
      #expect(refused.allSatisfy { $0.status == 409 && $0.string("code") == "23505" }, "\(refused.map(\.text))")
      #expect(try await bob.rows("checkpoint_submissions").count == 1)
      #expect(try await bob.rows("hunt_leaderboard?hunt_id=eq.\(hunt.id)").first?.int("score") == 20)
    }
  }

  @Test(arguments: engines) func fiftyTimesTheSameJoinIsOneParticipant(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt()
      let replies = try await atOnce(50) { number in
        number % 2 == 0
          ? try await bob.join(hunt)
          : try await bob.rest(.POST, "scavenger_hunts/\(hunt.id)/join", #"{"invite_code": "\#(hunt.code)"}"#)
      }
      #expect(replies.allSatisfy { $0.status == 200 && $0.int("participant_count") == 1 }, "\(replies.map(\.text))")
      #expect(
        try await alice.rows("hunt_participants?hunt_id=eq.\(hunt.id)").map { $0.text("user_id") } == ["\(bob.id)"])
      #expect(try await alice.count("hunt_leaderboard?hunt_id=eq.\(hunt.id)") == 1)
    }
  }

  @Test(arguments: engines) func whoIsInWhenTheHuntEndsIsInAndNobodyAfter(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      var people: [SignedInUser] = []
      for number in 0..<10 { people.append(try await stack.signIn("person\(number)")) }
      let hunt = try await alice.makeHunt()
      // The last one has joined before, so that they may submit while it ends.
      #expect(try await people[9].join(hunt).status == 200)
      let statuses = try await atOnce(11) { [people] number in
        switch number {
        case 10:
          try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(hunt.id)", #"{"status": "completed"}"#).status
        case 9: try await people[9].submit(hunt.checkpoints[0]).status == 201 ? 201 : 400
        default: try await people[number].join(hunt).status
        }
      }
      #expect(statuses.allSatisfy { [200, 201, 400].contains($0) }, "\(statuses)")
      // One 200 is the end of the hunt, and one participant was there before.
      let joined = statuses.filter { $0 == 200 }.count
      #expect(try await alice.count("hunt_participants?hunt_id=eq.\(hunt.id)") == joined)
      #expect(
        try await alice.count("checkpoint_submissions?checkpoint_id=eq.\(hunt.checkpoints[0])")
          == statuses.filter { $0 == 201 }.count)
      #expect(try await stack.signIn("late").join(hunt).status == 400)
      #expect(try await people[9].join(hunt).status == 200)
    }
  }

  @Test(arguments: engines) func submissionsAreForTheTimeOfTheHunt(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt(points: [1, 2, 3], isActive: false)
      let path = "scavenger_hunts?id=eq.\(hunt.id)"
      #expect(try await bob.join(hunt).status == 200)
      #expect(try await bob.submit(hunt.checkpoints[0]).status == 400)
      let (start, end) = (stack.clock.now.addingTimeInterval(60), stack.clock.now.addingTimeInterval(120))
      _ = try await alice.rest(
        .PATCH, path,
        """
        {"status": "active", "start_time": "\(start.formatted(.iso8601))", "end_time": "\(end.formatted(.iso8601))"}
        """
      )
      #expect(try await bob.submit(hunt.checkpoints[0]).status == 400)
      stack.clock.advance(by: .seconds(61))
      #expect(try await bob.submit(hunt.checkpoints[0]).status == 201)
      stack.clock.advance(by: .seconds(60))
      let late = try await bob.submit(hunt.checkpoints[1])
      #expect(late.status == 400 && late.contractCode == "VALIDATION_ERROR", "\(late.text)")
      // Nobody joins a hunt that is over; who is in stays in.
      let carol = try await stack.signIn("carol")
      #expect(try await carol.join(hunt).status == 400)
      #expect(try await bob.join(hunt).status == 200)
    }
  }

  @Test(arguments: engines) func aPhotoIsSentWhereOneIsRequired(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let row = try await alice.insert(
        "scavenger_hunts", #"{"title": "x", "checkpoints": [{"title": "Door", "photo_required": true}]}"#)
      let id = row.text("id")
      _ = try await alice.rest(.PATCH, "scavenger_hunts?id=eq.\(id)", #"{"status": "active"}"#)
      #expect(try await bob.join(TestHunt(id: id, code: row.text("invite_code"), checkpoints: [])).status == 200)
      let checkpoint = try await bob.rows("hunt_checkpoints?hunt_id=eq.\(id)").first?.text("id") ?? ""
      #expect(try await bob.submit(checkpoint).status == 400)
      for (url, status) in [("http://x.example/1.jpg", 400), ("javascript:x", 400), ("https://x.example/1.jpg", 201)] {
        let body = #"{"checkpoint_id": "\#(checkpoint)", "photo_url": "\#(url)"}"#
        #expect(try await bob.rest(.POST, "checkpoint_submissions", body).status == status, "\(url)")
      }
    }
  }

  @Test(arguments: engines) func equalScoresAreRankedByTime(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      let hunt = try await alice.makeHunt(points: [20, 30])
      let people = [try await stack.signIn("bob"), try await stack.signIn("carol"), try await stack.signIn("dave")]
      for person in people { #expect(try await person.join(hunt).status == 200) }
      #expect(try await people[2].submit(hunt.checkpoints[0]).status == 201)
      stack.clock.advance(by: .seconds(5))
      #expect(try await people[1].submit(hunt.checkpoints[0]).status == 201)
      stack.clock.advance(by: .seconds(5))
      #expect(try await people[0].submit(hunt.checkpoints[1]).status == 201)
      let ranks = try await alice.rows("hunt_leaderboard?hunt_id=eq.\(hunt.id)").map { $0.text("name") }
      #expect(ranks == ["bob", "dave", "carol"])
      let byName = try await alice.rows("hunt_leaderboard?hunt_id=eq.\(hunt.id)&order=name.desc").map {
        $0.text("name")
      }
      #expect(byName == ["dave", "carol", "bob"])
    }
  }

  @Test(arguments: engines) func codesCannotBeFoundByTrying(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt()
      for _ in 0..<10 {
        let wrong = try await bob.rest(.POST, "scavenger_hunts/join", #"{"invite_code": "AAAAAAAA"}"#)
        #expect(wrong.status == 404 && wrong.contractCode == "HUNT_NOT_FOUND", "\(wrong.text)")
      }
      let limited = try await bob.join(hunt)
      #expect(limited.status == 429 && limited.contractCode == "RATE_LIMIT_EXCEEDED", "\(limited.text)")
      let carol = try await stack.signIn("carol")
      #expect(
        try await carol.rest(.POST, "scavenger_hunts/join", #"{"invite_code": " \#(hunt.code.lowercased()) "}"#).status
          == 200)
      stack.clock.advance(by: .seconds(3601))
      #expect(try await stack.signIn("bob").join(hunt).status == 200)
    }
  }

  @Test(arguments: engines) func aNewCodeClosesTheOldOne(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let hunt = try await alice.makeHunt()
      let path = "scavenger_hunts?id=eq.\(hunt.id)"
      #expect(try await alice.rest(.PATCH, path, #"{"invite_code": "MYOWNCODE"}"#).status == 403)
      let code = try await alice.rest(.PATCH, path, #"{"invite_code": null}"#).list.first?.text("invite_code") ?? ""
      #expect(code.count == 8 && code != hunt.code)
      #expect(try await bob.join(hunt).status == 404)
      #expect(try await bob.join(TestHunt(id: hunt.id, code: code, checkpoints: [])).status == 200)
    }
  }
}
