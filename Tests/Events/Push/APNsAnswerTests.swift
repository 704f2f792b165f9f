import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Events

/// What is done with the answers of APNs.
@Suite struct APNsAnswerTests {
  private typealias Answer = APNsServer.Answer

  @Test(arguments: engines) func aTokenThatIsGoneIsForgotten(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let bob = try fixture.person()
      let now = Int(fixture.clock.now.timeIntervalSince1970 * 1000)
      let gone: [(Answer, Bool)] = [
        (Answer(status: 410, reason: "Unregistered", timestamp: now + 60_000), true),
        // The app has registered the token again since then.
        (Answer(status: 410, reason: "Unregistered", timestamp: now - 60_000), false),
        (Answer(status: 410, reason: "ExpiredToken", timestamp: now + 60_000), true),
        (Answer(status: 400, reason: "DeviceTokenNotForTopic"), true),
        (Answer(status: 400, reason: "BadTopic"), false), (Answer(status: 413, reason: "PayloadTooLarge"), false),
      ]
      for (answer, isGone) in gone {
        let alice = try fixture.person()
        apns.answerAlways(answer, to: try await fixture.device(alice, ["environment": "production"]))
        try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
        try await fixture.settled()
        let devices = try await fixture.browser(alice).get("/api/devices")["devices"] as? [Any]
        #expect(devices?.isEmpty == isGone, "\(answer)")
      }
      #expect(apns.refusals == gone.map(\.0.reason))
    }
  }

  @Test(arguments: engines) func aDeviceOfTheOtherEnvironmentIsFoundThere(_ engine: Engine) async throws {
    try await withAPNs { apns, folder in
      let sandbox = APNsServer(folder: folder)
      try await sandbox.start()
      do {
        try await withEvents(engine, apns.settings(sandbox: sandbox)) { fixture in
          let (alice, bob) = (try fixture.person(), try fixture.person())
          let unknown = try await fixture.device(alice)
          let known = try await fixture.device(alice, ["environment": "sandbox"])
          apns.answerAlways(Answer(status: 400, reason: "BadDeviceToken"), to: unknown)
          for _ in 0..<2 {
            try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
            try await fixture.settled()
          }
          #expect(sandbox.accepted.filter { $0.token == unknown }.count == 2)
          #expect(sandbox.accepted.filter { $0.token == known }.count == 2)
          #expect(apns.requestCount == 1)
          // Neither there.
          sandbox.answerAlways(Answer(status: 400, reason: "BadDeviceToken"), to: known)
          try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
          try await fixture.settled()
          #expect((try await fixture.browser(alice).get("/api/devices")["devices"] as? [Any])?.count == 1)
        }
        try await sandbox.stop()
      } catch {
        try await sandbox.stop()
        throw error
      }
    }
  }

  @Test(arguments: engines) func temporaryFailuresAreTriedAgainWithTheSameID(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      let token = try await fixture.device(alice)
      apns.answer(
        Answer(status: 503, reason: "ServiceUnavailable", retryAfterSeconds: 1),
        Answer(status: 429, reason: "TooManyRequests", retryAfterSeconds: 1),
        Answer(status: 400, reason: "IdleTimeout", end: .close), Answer(status: 500, reason: "InternalServerError"),
        to: token)
      try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
      for count in 1...4 {
        try await eventually("failure \(count)") { apns.refusals.count == count }
        try await fixture.tried()
        // Longer than the wait that it asks for.
        fixture.clock.advance(by: .seconds(7300))
      }
      try await eventually("its delivery") { apns.accepted.count == 1 }
      try await fixture.settled()
      #expect(
        apns.refusals == ["ServiceUnavailable", "TooManyRequests", "IdleTimeout", "InternalServerError"])
      #expect(apns.doubles == 0 && apns.accepted.count == 1)
    }
  }

  @Test(arguments: engines) func aMisconfigurationStopsAllUntilItIsMended(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let bob = try fixture.person()
      let people = try [fixture.person(), fixture.person(), fixture.person()]
      for person in people {
        apns.answer(
          Answer(status: 403, reason: "UnrelatedKeyIdInToken"), to: try await fixture.device(person))
      }
      try await fixture.deliver([fixture.assignment("Task", to: people[0], by: bob)])
      try await eventually("the refusal") { apns.refusals.count == 1 }
      try await fixture.deliver(people.dropFirst().map { fixture.assignment("Task", to: $0, by: bob) })
      try await eventually("all are planned") {
        try await fixture.testDatabase.count("outbox where due_at is not null and tries > 0", in: "events") == 3
      }
      #expect(apns.requestCount == 1)
      let leased: SQL = "outbox where lease is not null and due_at is not null"
      try await eventually(
        "all are sent", passing: .seconds(20), on: fixture.clock,
        leased: { try await fixture.testDatabase.count(leased, in: "events") }
      ) { apns.accepted.count == 3 }
    }
  }

  @Test(arguments: engines) func theProviderTokenIsRenewedInTime(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      try await fixture.device(alice)
      for _ in 0..<12 {
        try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
        try await fixture.settled()
        fixture.clock.advance(by: .seconds(15 * 60))
      }
      // The server refuses tokens that change within 20 minutes, and those that are older than an hour.
      #expect(apns.refusals.isEmpty && apns.accepted.count == 12)
      #expect((4...6).contains(Set(apns.accepted.map(\.issuedAt)).count))
    }
  }

  @Test(arguments: engines) func aServerThatGoesAwayLosesNothing(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let bob = try fixture.person()
      var tokens: Set<String> = []
      var events: [FeedEvent] = []
      for number in 1...40 {
        let person = try fixture.person()
        tokens.insert(try await fixture.device(person))
        events.append(fixture.assignment("Task \(number)", to: person, by: bob))
      }
      apns.goAway(after: 10)
      try await fixture.deliver(events)
      try await fixture.settled()
      #expect(Set(apns.accepted.map(\.token)) == tokens && apns.accepted.count == 40)
      #expect(apns.connectionCount >= 2)
      // The client has used the streams that it was allowed after the first answer.
      #expect(apns.streamsMaxSeen > 1)
    }
  }

  @Test(arguments: engines) func anIdleConnectionMayAllowMoreStreams(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      apns.answerAlways(.end(.settingsWhenIdle), to: try await fixture.device(alice))
      for number in 1...3 {
        try await fixture.deliver([fixture.assignment("Task \(number)", to: alice, by: bob)])
        try await eventually("its delivery") { apns.accepted.count == number }
        // Until the server has changed its settings.
        try await Task.sleep(for: .milliseconds(600))
      }
      #expect(apns.connectionCount == 1 && apns.doubles == 0)
    }
  }

  @Test(arguments: engines) func howeverAConnectionEndsNothingIsLost(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let bob = try fixture.person()
      let endings: [APNsServer.ConnectionEnd?] = [
        nil, .oneStream, .reset, .closeWithoutAnswer, .goAwayWithoutAnswer, .goAway, .close,
      ]
      var tokens: Set<String> = []
      var events: [FeedEvent] = []
      for number in 0..<42 {
        let person = try fixture.person()
        let token = try await fixture.device(person)
        if let end = endings[number % endings.count] { apns.answer(.end(end), to: token) }
        if number % 5 == 0 { apns.answer(Answer(status: 200, reason: "", delay: .milliseconds(200)), to: token) }
        tokens.insert(token)
        events.append(fixture.assignment("Task \(number)", to: person, by: bob))
      }
      try await fixture.deliver(events)
      let leased: SQL = "outbox where lease is not null and due_at is not null"
      try await eventually(
        "all notifications", passing: .seconds(2), on: fixture.clock,
        leased: { try await fixture.testDatabase.count(leased, in: "events") }
      ) { apns.accepted.count == 42 }
      #expect(Set(apns.accepted.map(\.token)) == tokens)
      // What was answered may have been sent again where the answer was lost; with the same id.
      #expect(apns.refusals.isEmpty && apns.connectionCount > 1)
    }
  }
}
