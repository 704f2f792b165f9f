import Database
import Foundation
import Support
import Testing
import Wire

@testable import Events

/// What comes in quiet hours is held until their end.
@Suite struct QuietHoursTests {
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

  @Test(arguments: engines) func whatWasSeenInQuietHoursIsNotSummedUp(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob, carol) = (try fixture.person(), try fixture.person(), try fixture.person())
      let start = try #require(
        Calendar.utc.nextDate(
          after: fixture.clock.now, matching: DateComponents(hour: 23, minute: 0), matchingPolicy: .nextTime))
      fixture.clock.move(to: start)
      let people = try [alice, carol].map { try fixture.person($0.id) }
      let hours: [String: any Sendable] = ["enabled": true, "start": "22:00", "end": "07:00"]
      for person in people {
        try await fixture.device(person)
        let reply = try await fixture.browser(person)
          .send(.PATCH, "/api/v1/notification_preference", json: ["quiet_hours": hours])
        #expect(reply.status == 200)
      }
      try await fixture.deliver(people.map { fixture.assignment("Task", to: $0, by: bob) })
      try await eventually("both are held") {
        try await fixture.testDatabase.count("held_alert", in: "events") == 2
      }
      #expect(try await fixture.browser(people[0]).post("/api/v1/analytics/app_opened").status == 204)
      fixture.clock.advance(by: .seconds(8 * 3600 + 60))
      try await eventually("all is sent") {
        try await fixture.testDatabase.count("outbox where due_at is not null", in: "events") == 0
      }
      // Only of who has not opened the app.
      #expect(apns.accepted.map(\.text) == ["You have 1 new notification"])
    }
  }
}

extension Calendar {
  fileprivate static let utc: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
  }()
}
