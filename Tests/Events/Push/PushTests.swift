import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Events

/// Who is notified of what, when, and on which devices.
@Suite struct PushTests {
  @Test(arguments: engines) func whoIsAwayIsNotifiedOnceOnEachDevice(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      let tokens = [try await fixture.device(alice), try await fixture.device(alice)]
      try await fixture.device(bob)
      let android = try await fixture.device(alice, ["platform": "android"])
      let event = fixture.assignment("Buy milk", to: alice, by: bob)
      for _ in 0..<2 { try await fixture.deliver([event]) }
      try await fixture.settled()
      let sent = apns.accepted
      #expect(Set(sent.map(\.token)) == Set(tokens) && sent.count == 2)
      #expect(!sent.contains { $0.token == android })
      let push = try #require(sent.first)
      #expect(push.text == "Somebody assigned you “Buy milk”")
      #expect(push.aps?["badge"] == .integer(1) && push.aps?["thread-id"] == .string("list_id:42"))
      #expect(push.payload["task_id"] == .integer(7) && push.payload["event"] == .string("task_assigned"))
      #expect(push.headers["apns-priority"] == "10" && push.headers["apns-push-type"] == "alert")
      #expect(apns.refusals.isEmpty && apns.doubles == 0 && apns.connectionCount == 1)
      // Nobody is notified of what they have done themselves.
      try await fixture.deliver([fixture.assignment("Mine", to: alice, by: alice)])
      try await fixture.settled()
      #expect(apns.accepted.count == 2)
      let reply = try await fixture.events.with(["X-Service-Key": TestStack.keys["lists"] ?? ""]).get("/metrics")
      #expect(reply.text.contains("kith_push_seconds_count 2\n"))
      #expect(reply.text.contains(#"kith_push_sent_total{outcome="accepted"} 2"#))
    }
  }

  /// A group has up to ten thousand members, and a page of its readers one thousand.
  @Test(arguments: engines) func allReadersOfALargeGroupAreNotified(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let group = "social_groups:\(GroupID.new(at: fixture.clock.now))"
      for number in 0...TopicReaders.usersMax {
        fixture.owner.allow(try #require(UserID("00000000-0000-4000-8000-00000000\(1000 + number)")), group)
      }
      let last = try fixture.reader(of: group)
      let token = try await fixture.device(last)
      try await fixture.deliver([Self.hunt(in: group, at: fixture.clock.now)])
      try await fixture.settled()
      #expect(apns.accepted.map(\.token) == [token])
      // An earlier version of groups has the first page only.
      fixture.owner.setOnePage()
      try await fixture.deliver([Self.hunt(in: group, at: fixture.clock.now)])
      try await fixture.settled()
      #expect(apns.accepted.count == 1)
    }
  }

  private static func hunt(in group: String, at now: Date) -> FeedEvent {
    FeedEvent(
      id: .new(at: now), topics: ["scavenger_hunts:1"], name: "hunt_started",
      payload: .object(["hunt_id": .string("1")]), at: now, push: PushDetails(readersOf: group))
  }

  @Test func whoIsAwayIsNotifiedWithinSeconds() async throws {
    try await withPushes(.sqlite) { fixture, apns in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.person())
      try await fixture.device(alice)
      let socket = try await SocketClient.connect(fixture)
      _ = try await socket.join("realtime:lists:42", alice.token)
      try await socket.close()
      try await Task.sleep(for: .milliseconds(500))
      let isQuick = try await isDone(within: .seconds(5)) {
        let title = UUID().uuidString
        try await fixture.deliver([fixture.assignment(title, to: alice, by: bob)])
        try await eventually("the notification") { apns.accepted.contains { $0.text?.contains(title) == true } }
      }
      #expect(isQuick)
    }
  }

  @Test(arguments: engines) func whoHasTheTopicOpenIsNotNotified(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.person())
      try await fixture.device(alice)
      let socket = try await SocketClient.connect(fixture)
      _ = try await socket.join("realtime:lists:42", alice.token)
      try await fixture.deliver([fixture.assignment("Seen", to: alice, by: bob)])
      #expect(try await socket.nextEvent().name == "task_assigned")
      try await fixture.settled()
      #expect(apns.requestCount == 0)
      // Another list is not open.
      try await fixture.deliver([fixture.assignment("Elsewhere", to: alice, by: bob, list: 43)])
      try await eventually("the notification") { apns.accepted.count == 1 }
      try await socket.close()
      try await eventually("the notification after the socket was closed") {
        try await fixture.deliver([fixture.assignment("Away", to: alice, by: bob)])
        try await fixture.settled()
        return apns.accepted.contains { $0.text?.contains("Away") == true }
      }
      #expect(!apns.accepted.contains { $0.text?.contains("Seen") == true })
    }
  }

  @Test(arguments: engines) func preferencesAndMutedGroupsAreKept(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      let group = GroupID.new(at: fixture.clock.now)
      fixture.owner.allow(alice.id, "social_groups:\(group)")
      try await fixture.device(alice)
      let browser = fixture.browser(alice)
      let path = "/api/v1/notification_preference"
      func photo() -> FeedEvent {
        FeedEvent(
          id: .new(at: fixture.clock.now), topics: ["social_groups:\(group)"], name: "first_photo_sent",
          payload: .object(["group_id": .string(group.description)]), at: fixture.clock.now,
          push: PushDetails(recipients: [alice.id], actor: bob.id, subject: "Cabin"))
      }
      func isNotified(of event: FeedEvent) async throws -> Bool {
        let count = apns.accepted.count
        try await fixture.deliver([event])
        try await fixture.settled()
        return apns.accepted.count > count
      }
      #expect(try await isNotified(of: photo()))
      #expect(apns.accepted.last?.text == "Somebody shared the first photo of the day in Cabin")
      #expect(try await browser.send(.PUT, "/api/groups/\(group)/mute", json: [:]).status == 204)
      #expect(try await !isNotified(of: photo()))
      #expect(try await isNotified(of: fixture.assignment("Not the group", to: alice, by: bob)))
      #expect(try await browser.delete("/api/groups/\(group)/mute").status == 204)
      #expect(try await isNotified(of: photo()))
      #expect(try await fixture.browser(bob).send(.PUT, "/api/groups/\(group)/mute", json: [:]).status == 404)

      let changed = try await browser.send(.PATCH, path, json: ["kinds": ["task_assigned": false]])
      #expect(changed.status == 200)
      #expect(try await !isNotified(of: fixture.assignment("Unwanted", to: alice, by: bob)))
      #expect(try await isNotified(of: photo()))
      let off: [String: any Sendable] = ["notification_preference": ["push_enabled": false]]
      #expect(try await browser.send(.PATCH, path, json: off).status == 200)
      #expect(try await !isNotified(of: photo()))
      let read = try await browser.get(path)
      let preference = try #require(read["notification_preference"] as? [String: Any])
      #expect(preference["push_enabled"] as? Bool == false)
      #expect((preference["kinds"] as? [String: Bool])?["task_assigned"] == false)
      #expect((preference["quiet_hours"] as? [String: Any])?["start"] as? String == "22:00")
      let wrong: [[String: any Sendable]] = [
        ["kinds": ["nothing": true]], ["kinds": ["security": false]], ["quiet_hours": ["start": "24:00"]],
      ]
      for body in wrong { #expect(try await browser.send(.PATCH, path, json: body).status == 422, "\(body)") }
      #expect(try await fixture.events.get(path).status == 401)
    }
  }

  @Test(arguments: engines) func aThreadCollapsesForAMinuteAndTheBadgeCounts(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      try await fixture.device(alice)
      for list in [42, 42, 43] {
        try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob, list: list)])
        try await fixture.settled()
      }
      fixture.clock.advance(by: .seconds(61))
      try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
      try await fixture.settled()
      let sent = apns.accepted
      let collapse = sent.map { $0.headers["apns-collapse-id"] }
      try #require(sent.count == 4)
      #expect(collapse[0] == collapse[1] && collapse[1] != collapse[2] && collapse[0] != collapse[3])
      #expect(sent.map { $0.aps?["badge"] } == (1...4).map { .integer($0) })
      #expect(try await fixture.browser(alice).post("/api/v1/analytics/app_opened").status == 204)
      try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
      try await fixture.settled()
      #expect(apns.accepted.last?.aps?["badge"] == .integer(1))
    }
  }

  @Test(arguments: engines) func atMostThirtyAlertsComeInAnHour(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      try await fixture.device(alice)
      try await fixture.deliver((1...35).map { fixture.assignment("Task \($0)", to: alice, by: bob) })
      try await fixture.settled()
      #expect(apns.accepted.count == 30)
      let theft = FeedEvent(
        id: .new(at: fixture.clock.now), topics: ["users:\(alice.id)"], name: "token_theft_noticed",
        payload: .object(["session_id": .string(alice.session.description)]), at: fixture.clock.now)
      try await fixture.deliver([theft])
      try await fixture.settled()
      #expect(apns.accepted.count == 31 && apns.accepted.last?.text?.hasPrefix("For your security") == true)
      fixture.clock.advance(by: .seconds(3601))
      try await fixture.deliver([fixture.assignment("Later", to: alice, by: bob)])
      try await fixture.settled()
      #expect(apns.accepted.count == 32)
    }
  }

  @Test(arguments: engines) func aDeviceGoesWithItsSession(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      let elsewhere = try fixture.person(alice.id)
      try await fixture.device(alice)
      let kept = try await fixture.device(elsewhere)
      func ended(_ person: EventsFixture.Person, _ reason: String) -> FeedEvent {
        FeedEvent(
          id: .new(at: fixture.clock.now), topics: ["users:\(person.id)"], name: "session_ended",
          payload: .object([
            "session_id": .string(person.session.description), "reason": .string(reason),
          ]), at: fixture.clock.now)
      }
      try await fixture.deliver([ended(alice, "signed_out")])
      try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
      try await fixture.settled()
      #expect(apns.accepted.map(\.token) == [kept])
      // The device of a session that was ended because of a theft is told of it, and of nothing else.
      let theft = FeedEvent(
        id: .new(at: fixture.clock.now), topics: ["users:\(alice.id)"], name: "token_theft_noticed",
        payload: .object(["session_id": .string(elsewhere.session.description)]), at: fixture.clock.now)
      try await fixture.deliver([ended(elsewhere, "refresh_token_reused"), theft])
      try await fixture.deliver([fixture.assignment("Secret", to: alice, by: bob)])
      try await fixture.settled()
      #expect(apns.accepted.count == 2 && apns.accepted.last?.text?.hasPrefix("For your security") == true)
    }
  }

  @Test(arguments: engines) func whatIsStaleIsNotDelivered(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      try await fixture.device(alice)
      let now = Date(timeIntervalSince1970: fixture.clock.now.timeIntervalSince1970.rounded(.down))
      func photo(goneAt end: Date) -> FeedEvent {
        FeedEvent(
          id: .new(at: now), topics: ["social_groups:1"], name: "first_photo_sent",
          payload: .object(["group_id": .string("\(end)")]), at: now,
          push: PushDetails(recipients: [alice.id], actor: bob.id, expiresAt: end))
      }
      try await fixture.deliver([photo(goneAt: now - 1), photo(goneAt: now + 48 * 3600)])
      try await fixture.settled()
      // Apple keeps it as long as there is the photo.
      let end = "\(Int((now + 48 * 3600).timeIntervalSince1970))"
      #expect(apns.accepted.map { $0.headers["apns-expiration"] } == [end])
    }
  }

  @Test(arguments: engines) func whatTheSenderHasHiddenIsNotShown(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      try await fixture.device(alice)
      try await fixture.deliver([fixture.assignment("Surprise party", to: alice, by: bob, hidden: true)])
      try await fixture.settled()
      #expect(apns.accepted.map(\.text) == ["Somebody assigned you a task"])
    }
  }
}
