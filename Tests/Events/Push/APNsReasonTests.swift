import Database
import Foundation
import Support
import Testing
import Wire

@testable import Events

/// Each reason of Apple's page is treated as the page says.
@Suite struct APNsReasonTests {
  private typealias Answer = APNsServer.Answer

  /// The device is deleted, and nothing is sent again.
  private static let ofTheDevice = [
    (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (410, "Unregistered"), (410, "ExpiredToken"),
  ]
  /// Nothing is sent again; the device stays.
  private static let ofTheRequest = [
    (400, "BadCollapseId"), (400, "BadExpirationDate"), (400, "BadMessageId"), (400, "BadPriority"), (400, "BadTopic"),
    (400, "DuplicateHeaders"), (400, "InvalidPushType"), (400, "MissingDeviceToken"), (400, "MissingTopic"),
    (400, "PayloadEmpty"), (400, "TopicDisallowed"), (404, "BadPath"), (405, "MethodNotAllowed"),
    (413, "PayloadTooLarge"),
  ]
  /// Nothing is sent to anybody for a while.
  private static let ofTheConfiguration = [
    "InvalidProviderToken", "MissingProviderToken", "BadCertificate", "BadCertificateEnvironment", "Forbidden",
    "BadEnvironmentKeyIdInToken", "UnrelatedKeyIdInToken",
  ]
  /// It is sent again at once, on another connection.
  private static let ofTheConnection = [(400, "IdleTimeout"), (503, "ServiceUnavailable"), (503, "Shutdown")]
  private static let ofTheToken = ["ExpiredProviderToken", "TooManyProviderTokenUpdates"]
  private static let later = ["TooManyRequests", "InternalServerError"]

  @Test func noReasonIsLeftOut() {
    let tested = (Self.ofTheDevice + Self.ofTheRequest + Self.ofTheConnection).map(\.1) + Self.ofTheConfiguration
    #expect(Set(tested + Self.ofTheToken + Self.later) == APNsReasons.known)
  }

  @Test(arguments: engines) func aRefusedDeviceIsDeletedAndARefusedRequestIsNot(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let bob = try fixture.person()
      var people: [(reason: String, person: EventsFixture.Person)] = []
      for (status, reason) in Self.ofTheDevice + Self.ofTheRequest {
        let person = try fixture.person()
        let token = try await fixture.device(person, ["environment": "production"])
        apns.answerAlways(Answer(status: status, reason: reason), to: token)
        people.append((reason, person))
      }
      try await fixture.deliver(people.map { fixture.assignment("Task", to: $0.person, by: bob) })
      try await fixture.settled()
      #expect(apns.requestCount == people.count && Set(apns.refusals) == Set(people.map(\.reason)))
      for (reason, person) in people {
        let devices = try await fixture.browser(person).get("/api/devices")["devices"] as? [Any]
        #expect(devices?.isEmpty == Self.ofTheDevice.contains { $0.1 == reason }, "\(reason)")
      }
      let outcome: SQL = "outbox where outcome = 'given_up' and kind = 'alert'"
      #expect(try await fixture.testDatabase.count(outcome, in: "events") == Self.ofTheRequest.count)
    }
  }

  @Test func aWrongConfigurationStopsEverybody() async throws {
    try await withPushes(.sqlite) { fixture, apns in
      let (alice, bob) = (try fixture.person(lifetime: .seconds(86_400)), try fixture.person())
      let token = try await fixture.device(alice)
      for (index, reason) in Self.ofTheConfiguration.enumerated() {
        apns.answer(Answer(status: 403, reason: reason), to: token)
        let earlierCount = apns.requestCount
        try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
        try await eventually("the refusal") { apns.refusals.last == reason }
        try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob, list: 43)])
        try await eventually("both wait") {
          try await fixture.testDatabase.count("outbox where due_at is not null and tries > 0", in: "events") == 2
        }
        try await fixture.tried()
        #expect(apns.requestCount == earlierCount + 1, "\(apns.refusals)")
        fixture.clock.advance(by: .seconds(301))
        try await eventually("both are sent") { apns.accepted.count == 2 * (index + 1) }
        try await fixture.settled()
      }
    }
  }

  /// A key that is for one environment alone does not end what is sent to the other one.
  @Test(arguments: engines) func aRefusalOfOneEnvironmentLeavesTheOtherAlone(_ engine: Engine) async throws {
    try await withAPNs { apns, folder in
      let sandbox = APNsServer(folder: folder)
      try await sandbox.start()
      do {
        try await withEvents(engine, apns.settings(sandbox: sandbox)) { fixture in
          let (alice, bob, carol) = (try fixture.person(), try fixture.person(), try fixture.person())
          let unknown = try await fixture.device(alice)
          try await fixture.device(carol)
          apns.answerAlways(Answer(status: 400, reason: "BadDeviceToken"), to: unknown)
          sandbox.answerAlways(Answer(status: 403, reason: "BadEnvironmentKeyIdInToken"), to: unknown)
          try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
          try await eventually("the refusal") { sandbox.refusals == ["BadEnvironmentKeyIdInToken"] }
          try await fixture.deliver([fixture.assignment("Task", to: carol, by: bob)])
          try await eventually("the other alert") { apns.accepted.count == 1 }
        }
        try await sandbox.stop()
      } catch {
        try await sandbox.stop()
        throw error
      }
    }
  }

  @Test(arguments: engines) func aConnectionOfNoUseIsReplaced(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob) = (try fixture.person(), try fixture.person())
      let token = try await fixture.device(alice)
      for (index, (status, reason)) in Self.ofTheConnection.enumerated() {
        apns.answer(Answer(status: status, reason: reason), to: token)
        try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
        try await eventually("the refusal") { apns.refusals.count == index + 1 }
        // Until the failure is recorded; then longer than the shortest pause, and shorter than that of a server error.
        try await fixture.tried()
        fixture.clock.advance(by: .seconds(10))
        try await eventually("\(reason)") { apns.accepted.count == index + 1 }
        try await fixture.settled()
        #expect(apns.connectionCount == index + 2, "\(reason)")
      }
      #expect(apns.doubles == 0)
    }
  }

  @Test(arguments: engines) func aDeviceThatGetsTooManyWaitsAlone(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let (alice, bob, carol) = (try fixture.person(), try fixture.person(), try fixture.person())
      apns.answer(
        Answer(status: 429, reason: "TooManyRequests"), Answer(status: 500, reason: "InternalServerError"),
        Answer(status: 500, reason: "InternalServerError"), to: try await fixture.device(alice))
      try await fixture.device(carol)
      try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
      try await eventually("the refusal") { apns.refusals.count == 1 }
      try await fixture.deliver([fixture.assignment("Task", to: carol, by: bob)])
      try await eventually("the other device's") { apns.accepted.count == 1 }
      // A minute, and after the errors of the server a growing time from fifteen minutes on: this is
      // the second try.
      for seconds in [60, 1800, 3600] {
        try await fixture.tried()
        let count = apns.requestCount
        fixture.clock.advance(by: .seconds(seconds - 30))
        // Longer than the interval at which the outbox is read.
        try await Task.sleep(for: .milliseconds(1200))
        #expect(apns.requestCount == count, "before \(seconds) s")
        fixture.clock.advance(by: .seconds(31))
        try await eventually("after \(seconds) s") { apns.requestCount == count + 1 }
      }
      try await eventually("its delivery") { apns.accepted.count == 2 }
      #expect(apns.refusals == ["TooManyRequests", "InternalServerError", "InternalServerError"])
    }
  }

  @Test(arguments: engines) func anExpiredTokenIsReplacedAsSoonAsItMayBe(_ engine: Engine) async throws {
    try await withPushes(engine) { fixture, apns in
      let grid = Double(ProviderToken.lifetimeSeconds)
      let start = (fixture.clock.now.timeIntervalSince1970 / grid).rounded(.up) * grid
      // The token of this time is 100 seconds old, and may not be replaced.
      fixture.clock.move(to: Date(timeIntervalSince1970: start + 100))
      let (alice, bob) = (try fixture.person(lifetime: .seconds(7200)), try fixture.person())
      let token = try await fixture.device(alice)
      apns.answer(
        Answer(status: 403, reason: "ExpiredProviderToken"), Answer(status: 429, reason: "TooManyProviderTokenUpdates"),
        to: token)
      try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
      try await eventually("the refusal") { apns.refusals == ["ExpiredProviderToken"] }
      try await fixture.tried()
      fixture.clock.advance(by: .seconds(1101))
      try await eventually("the other refusal") { apns.refusals.count == 2 }
      try await fixture.tried()
      #expect(apns.accepted.isEmpty)
      fixture.clock.advance(by: .seconds(61))
      try await eventually("the same token") { apns.accepted.map(\.issuedAt) == [Int(start)] }
      try await fixture.settled()
      // Now it is older than twenty minutes: another one takes its place at once.
      apns.answer(Answer(status: 403, reason: "ExpiredProviderToken"), to: token)
      try await fixture.deliver([fixture.assignment("Task", to: alice, by: bob)])
      try await fixture.settled()
      #expect(apns.accepted.count == 2 && apns.accepted.first?.issuedAt == Int(start))
      #expect(apns.accepted.last.map { $0.issuedAt >= Int(start) + 1262 } == true)
      #expect(apns.refusals == ["ExpiredProviderToken", "TooManyProviderTokenUpdates", "ExpiredProviderToken"])
    }
  }
}
