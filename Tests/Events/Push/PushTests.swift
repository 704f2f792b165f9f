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
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.person())
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

  @Test(arguments: engines) func alertsOfQuietHoursAreSummedUpInOne(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      let token = try await fixture.device(alice, ["timezone": "Asia/Tokyo"])
      let hours: [String: any Sendable] = ["enabled": true, "start": "22:00", "end": "07:00"]
      let quiet: [String: any Sendable] = ["quiet_hours": hours]
      #expect(
        try await fixture.browser(alice).send(.PATCH, "/api/v1/notification_preference", json: quiet).status == 200)
      // 23:30 in Tokyo.
      var tokyo = Calendar(identifier: .gregorian)
      tokyo.timeZone = try #require(TimeZone(identifier: "Asia/Tokyo"))
      let night = try #require(
        tokyo.nextDate(
          after: fixture.clock.now, matching: DateComponents(hour: 23, minute: 30), matchingPolicy: .nextTime))
      fixture.clock.move(to: night)
      let later = try fixture.person(alice.id, lifetime: .seconds(7 * 86_400))
      for number in 1...3 {
        try await fixture.deliver([fixture.assignment("Task \(number)", to: later, by: bob)])
      }
      try await fixture.settled()
      #expect(apns.requestCount == 0)
      #expect(try await fixture.testDatabase.count("held_alert", in: "events") == 3)
      fixture.clock.move(to: night + 7.75 * 3600)
      try await eventually("the sum") { apns.accepted.count == 1 }
      let push = try #require(apns.accepted.first)
      #expect(push.token == token && push.text == "You have 3 new notifications" && push.aps?["badge"] == .integer(3))
      try await eventually("nothing is held") {
        try await fixture.testDatabase.count("held_alert", in: "events") == 0
      }
      try await fixture.deliver([fixture.assignment("By day", to: later, by: bob)])
      try await eventually("an alert at once") { apns.accepted.count == 2 }
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
