import Database
import Foundation
import Support
import Testing
import Web
import Wire

/// Server-sent events, from the delivery by a producer to the reader.
@Suite struct EventStreamTests {
  @Test(arguments: engines) func whatHappensArrivesInOrderWithItsNumber(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      var stream = try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token)
      #expect(stream.status == 200)
      #expect(stream.contentType == "text/event-stream")
      #expect(try await stream.nextBlock()?.seq == 0)
      try await fixture.deliver([
        fixture.event(1, "lists:42"), fixture.event(0, "lists:43"), fixture.event(2, "lists:42", "lists:43"),
      ])
      try await fixture.deliver([fixture.event(3, "lists:42")])
      let events = try await stream.next(3)
      #expect(events.map(\.seq) == [1, 2, 3])
      #expect(events.map(\.number) == [1, 2, 3])
      #expect(events.allSatisfy { $0.name == "task_changed" })
    }
  }

  @Test(arguments: engines) func aReaderThatComesBackGetsWhatItHasMissed(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      try await fixture.deliver((1...600).prefix(300).map { fixture.event($0, "lists:42") })
      try await fixture.deliver((301...600).map { fixture.event($0, "lists:42") })
      var stream = try await EventStreamClient(
        fixture.events, "topic=lists:42", token: alice.token, lastEventID: "2")
      #expect(try await stream.next(598).map(\.number) == Array(3...600))
      try await fixture.deliver([fixture.event(601, "lists:42")])
      #expect(try await stream.next()?.seq == 601)
      var whole = try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token, lastEventID: "0")
      #expect(try await whole.next(601).map(\.number) == Array(1...601))
    }
  }

  @Test(arguments: engines) func oneStreamResumesSeveralTopics(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:1", "lists:2")
      try await fixture.deliver([
        fixture.event(1, "lists:1"), fixture.event(2, "lists:2"), fixture.event(3, "lists:1"),
      ])
      let query = "topic=lists:1&topic=lists:2"
      var stream = try await EventStreamClient(
        fixture.events, query, token: alice.token, lastEventID: "lists:1=1,lists:2=0")
      let events = try await stream.next(2)
      #expect(Set(events.map(\.number)) == [2, 3])
      #expect(events.last?.places == ["lists:1": 2, "lists:2": 1])
      // One number cannot be the place in two topics.
      let refused = try await EventStreamClient(fixture.events, query, token: alice.token, lastEventID: "1")
      #expect(refused.status == 400)
    }
  }

  @Test(arguments: engines) func aDeliveryThatIsRepeatedIsAppendedOnce(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let events = (1...3).map { fixture.event($0, "lists:42") }
      let accepted = try await atOnce(20) { _ in try await fixture.deliver(events) }
      #expect(accepted.reduce(0, +) == 3)
      #expect(try await fixture.testDatabase.count("topic_event", in: "events") == 3)
      let alice = try fixture.reader(of: "lists:42")
      var stream = try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token, lastEventID: "0")
      #expect(try await stream.next(3).map(\.number) == [1, 2, 3])
    }
  }

  @Test(arguments: engines) func manyProducersAtOnceLeaveNoHoles(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      _ = try await atOnce(50) { index in
        try await fixture.deliver([fixture.event(index, "lists:42"), fixture.event(index, "lists:\(index + 100)")])
      }
      let alice = try fixture.reader(of: "lists:42")
      var stream = try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token, lastEventID: "0")
      let events = try await stream.next(50)
      #expect(events.map(\.seq) == Array(1...50))
      #expect(Set(events.compactMap(\.number)) == Set(0..<50))
    }
  }

  @Test(arguments: engines) func whereTheLogDoesNotReachBackThereIsAGap(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      try await fixture.deliver((1...5).map { fixture.event($0, "lists:42") })
      let database = try await fixture.testDatabase.open("events", [])
      try await database.write { try $0.change("delete from topic_event where seq <= 3") }
      await database.close()
      var stream = try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token, lastEventID: "2")
      let gap = try #require(try await stream.next())
      #expect(gap.name == "gap")
      #expect(gap.json["oldest"] as? Int == 4)
      #expect(gap.json["seq"] as? Int == 5)
      try await fixture.deliver([fixture.event(6, "lists:42")])
      #expect(try await stream.next()?.number == 6)
      // The premise: from the third on everything is still there.
      var whole = try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token, lastEventID: "3")
      #expect(try await whole.next(3).map(\.number) == [4, 5, 6])
      var future = try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token, lastEventID: "7")
      #expect(try await future.next()?.name == "gap")
    }
  }

  /// Also where the topic has as many events as before.
  @Test(arguments: engines) func aStreamIsToldThatTheLogWasSetBack(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: "lists:42")
      var stream = try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token)
      _ = try await stream.nextBlock()
      try await fixture.deliver([fixture.event(1, "lists:42")] + (1...5).map { fixture.event($0, "lists:43") })
      #expect(try await stream.next()?.number == 1)
      let database = try await fixture.testDatabase.open("events", [])
      try await database.write { db in
        for table in ["topic_event", "event", "topic"] as [SQL] { try db.change("delete from \(table)") }
        try db.change("update feed set position = 0")
      }
      await database.close()
      try await fixture.deliver([fixture.event(2, "lists:42")])
      let gap = try #require(try await stream.next())
      #expect(gap.name == "gap")
      // The log may have been looked at before the delivery.
      if gap.json["seq"] as? Int == 0 { #expect(try await stream.next()?.number == 2) }
      try await fixture.deliver([fixture.event(3, "lists:42")])
      #expect(try await stream.next()?.number == 3)
    }
  }

  @Test(arguments: engines) func strangersAreTurnedAway(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, mallory) = (try fixture.reader(of: "lists:42"), try fixture.person())
      func status(_ query: String, _ token: String?) async throws -> Int {
        try await EventStreamClient(fixture.events, query, token: token).status
      }
      #expect(try await status("topic=lists:42", alice.token) == 200)
      #expect(try await status("topic=lists:42", mallory.token) == 403)
      #expect(try await status("topic=realtime:lists:42", alice.token) == 200)
      #expect(try await status("topic=realtime:lists:42", mallory.token) == 403)
      #expect(try await status("topic=users:\(alice.id)", alice.token) == 200)
      #expect(try await status("topic=users:\(alice.id)", mallory.token) == 403)
      #expect(try await status("topic=lists:42", nil) == 401)
      #expect(try await status("topic=lists:42", "not a token") == 401)
      #expect(try await status("", alice.token) == 400)
      #expect(try await status("topic=lists:x", alice.token) == 400)
      fixture.owner.setDown(true)
      #expect(try await status("topic=lists:43", alice.token) == 503)
    }
  }

  @Test(arguments: engines) func aStreamEndsWithTheRightToRead(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.reader(of: "lists:42"))
      var hers = try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token)
      var his = try await EventStreamClient(fixture.events, "topic=lists:42", token: bob.token)
      _ = (try await hers.nextBlock(), try await his.nextBlock())
      fixture.owner.forbid(alice.id, "lists:42")
      try await fixture.deliver([
        fixture.event(
          1, "lists:42", name: "member_removed",
          access: [AccessChange(topic: "lists:42", user: alice.id, mayRead: false)])
      ])
      #expect(try await his.next()?.name == "member_removed")
      var last: EventStreamClient.Event?
      while let event = try await hers.next() { last = event }
      #expect(last?.name == "system")
      // Not even from the cache.
      #expect(try await EventStreamClient(fixture.events, "topic=lists:42", token: alice.token).status == 403)
      fixture.end(bob.session)
      #expect(try await his.next()?.data.contains("session has ended") == true)
      #expect(try await his.next() == nil)
    }
  }

  @Test(arguments: engines) func whatIsNoEventIsRefused(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let valid = try await fixture.status(ofEventWith: [:])
      #expect(valid == 200)
      let invalid: [[String: any Sendable]] = [
        ["name": "Task Changed"], ["topics": [String]()], ["topics": ["a b"]], ["payload": [1]], ["id": "7"],
      ]
      for changes in invalid {
        let status = try await fixture.status(ofEventWith: changes)
        #expect(status == 422, "\(changes)")
      }
      #expect(try await fixture.events.post("/internal/events", ["events": [Int]()]).status == 403)
      let gateway = fixture.events.with(["X-Service-Key": TestStack.keys["plain"] ?? ""])
      #expect(try await gateway.post("/internal/events", ["events": [Int]()]).status == 403)
    }
  }

  @Test(arguments: engines) func whatIsNoBatchIsRefusedWhole(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let event = String(decoding: try JSON.encodeExact(fixture.event(1, "lists:42")), as: UTF8.self)
      let producer = fixture.events.with(["X-Service-Key": TestStack.keys["lists"] ?? ""])
      func answer(_ body: String) async throws -> Browser.Reply {
        try await producer.send(.POST, "/internal/events", body: Data(body.utf8))
      }
      for body in ["", "{", #"{"events":[\#(event)"#, #"{"events":[\#(event)]} x"#] {
        let reply = try await answer(body)
        #expect(reply.status == 400 && reply.string("code") == "malformed_json", "\(body): \(reply.text)")
      }
      let invalid: [(second: String, fields: [String])] = [
        ("7", ["events.1"]),
        (#"{"id":"7","topics":["lists:1"],"name":"a","payload":{}}"#, ["events.1.id", "events.1.at"]),
        (event.replacing(#"["lists:42"]"#, with: "7"), ["events.1.topics"]),
        (event.replacing(#""at":""#, with: #""at":"yesterday "#), ["events.1.at"]),
      ]
      for (second, fields) in invalid {
        let reply = try await answer(#"{"events":[\#(event),\#(second)]}"#)
        let found = (reply["errors"] as? [[String: Any]] ?? []).compactMap { $0["field"] as? String }
        #expect(reply.status == 422 && found == fields, "\(second): \(reply.text)")
      }
      #expect(try await answer(#"{"events":7}"#).status == 422)
      #expect(try await fixture.testDatabase.count("event", in: "events") == 0)
      // Other members are not read. An event that is there already is not new.
      for accepted in [1, 0] {
        let reply = try await answer(#"{"more":[1],"events":[\#(event)]}"#)
        #expect(reply.status == 200 && reply.int("accepted") == accepted)
      }
    }
  }

  @Test(arguments: engines) func theRoutesAreThoseOfTheDocument(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let documented = try fixture.server.api.operations
      #expect(documented == fixture.server.operations)
    }
  }
}

extension EventsFixture {
  fileprivate func status(ofEventWith changes: [String: any Sendable]) async throws -> Int {
    let event: [String: any Sendable] = [
      "id": EventID.new(at: clock.now).description, "topics": ["lists:1"], "name": "task_changed",
      "payload": ["a": 1], "at": "2026-11-21T08:15:30Z",
    ]
    return try await events.with(["X-Service-Key": TestStack.keys["lists"] ?? ""])
      .post("/internal/events", ["events": [event.merging(changes) { $1 }]]).status
  }
}
