import Database
import Foundation
import Support
import Testing
import Wire

@testable import Events

/// Apps that were away are woken up in silence when somebody changes their lists.
@Suite struct BackgroundPushTests {
  /// The beginning of a minute, so that what follows is of the same one.
  private func beginMinute(_ fixture: EventsFixture) {
    let minute = (fixture.clock.now.timeIntervalSince1970 / 60).rounded(.up) * 60
    fixture.clock.move(to: Date(timeIntervalSince1970: minute))
  }

  private func change(_ fixture: EventsFixture, by actor: EventsFixture.Person, list: Int = 42) -> FeedEvent {
    FeedEvent(
      id: .new(at: fixture.clock.now), topics: ["lists:\(list)"], name: "task_changed",
      payload: .object(["list_id": .integer(list), "task_id": .integer(7), "by": .string(actor.id.description)]),
      at: fixture.clock.now)
  }

  @Test(arguments: engines) func theChangesOfAMinuteAreToldAtItsEnd(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.reader(of: "lists:42"))
      let carol = try fixture.reader(of: "lists:43")
      let token = try await fixture.device(alice)
      for person in [bob, carol] { try await fixture.device(person) }
      beginMinute(fixture)
      for _ in 1...3 { try await fixture.deliver([change(fixture, by: bob)]) }
      #expect(apns.requestCount == 0)
      fixture.clock.advance(by: .seconds(61))
      try await eventually("the notification") { apns.accepted.count == 1 }
      try await fixture.tried()
      let push = try #require(apns.accepted.first)
      #expect(push.token == token)
      #expect(push.headers["apns-push-type"] == "background" && push.headers["apns-priority"] == "5")
      #expect(push.aps == .object(["content-available": .integer(1)]))
      #expect(push.payload["event"] == .string("lists_changed"))
      // Further rows say nothing of who has made the change.
      let rows = FeedEvent(
        id: .new(at: fixture.clock.now), topics: ["lists:43"], name: "rows_changed", payload: .object([:]),
        at: fixture.clock.now)
      try await fixture.deliver([rows])
      // What happens within the next twenty minutes is told at their end, once.
      for _ in 1...2 {
        try await fixture.deliver([change(fixture, by: bob)])
        fixture.clock.advance(by: .seconds(61))
        try await fixture.settled()
      }
      #expect(apns.accepted.count == 1)
      fixture.clock.advance(by: .seconds(1200))
      try await eventually("the second one") { apns.accepted.count == 2 }
      try await fixture.tried()
      fixture.clock.advance(by: .seconds(1300))
      try await Task.sleep(for: .milliseconds(1200))
      #expect(apns.accepted.count == 2 && apns.refusals.isEmpty)
    }
  }

  @Test(arguments: engines) func whoHasTheListOpenOrWantsNoneIsNotWokenUp(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let people = try (0..<3).map { _ in try fixture.reader(of: "lists:42") }
      for person in people { try await fixture.device(person) }
      let bob = try fixture.person()
      let socket = try await SocketClient.connect(fixture)
      _ = try await socket.join("realtime:lists:42", people[0].token)
      #expect(
        try await fixture.browser(people[1])
          .send(.PATCH, "/api/v1/notification_preference", json: ["push_enabled": false]).status == 200)
      try await fixture.deliver([change(fixture, by: bob)])
      fixture.clock.advance(by: .seconds(61))
      try await fixture.settled()
      try await eventually("the third one's") { apns.accepted.count == 1 }
      try await fixture.tried()
      try await socket.close()
      fixture.clock.advance(by: .seconds(1200))
      try await fixture.deliver([change(fixture, by: bob)])
      fixture.clock.advance(by: .seconds(61))
      try await eventually("who has closed it") { apns.accepted.count == 3 }
      #expect(Set(apns.accepted.map(\.token)).count == 2)
    }
  }

  @Test(arguments: engines) func whileTheOwnerOfTheListIsAwayItWaits(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.person())
      try await fixture.device(alice)
      fixture.owner.setDown(true)
      try await fixture.deliver([change(fixture, by: bob)])
      fixture.clock.advance(by: .seconds(61))
      try await eventually("a try") {
        try await fixture.testDatabase.count("inbox where tries > 0 and due_at is not null", in: "events") == 1
      }
      fixture.owner.setDown(false)
      try await eventually("the notification") {
        fixture.clock.advance(by: .seconds(1))
        return apns.accepted.count == 1
      }
    }
  }
}
