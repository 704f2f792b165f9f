import Foundation
import Support
import Testing
import Web

@testable import Gateway

/// The gateway distinguishes services that answer probes slowly from services that are down.
@Suite struct SlowServiceTests {
  /// Frequent probes with a short timeout, for tests that wait for many.
  private static let fastProbe = HealthProbe(interval: .milliseconds(20), timeout: .seconds(2))

  @Test func theSlowerOfTwoKeepsItsShare() async throws {
    try await withGateway(services: 2) { gateway in
      try await eventually("the first answers") { gateway.endpoints.allSatisfy(\.isKnownAlive) }
      gateway.services[0].answerProbes(after: .milliseconds(800))
      gateway.services[1].answerProbes(after: .milliseconds(2400))
      let before = gateway.services.map(\.probes)
      // This includes the probes of `/health`.
      while gateway.services[1].probes < before[1] + 10 {
        #expect(gateway.endpoints.map(\.status) == [.ready, .ready])
        #expect(try await gateway.browser.get("/health").status == 200)
        try await Task.sleep(for: .milliseconds(50))
      }
      #expect(gateway.endpoints[1].isSlow)
      let requests = gateway.services.map(\.requests)
      for _ in 0..<40 { #expect(try await gateway.browser.get("/echo?n=1").status == 200) }
      for (service, count) in zip(gateway.services, requests) { #expect(service.requests - count >= 10) }
    }
  }

  @Test func healthTellsSlowFromDown() async throws {
    try await withGateway { gateway in
      gateway.service.answerProbes(after: .milliseconds(2400))
      try await eventually("the slowness") { try await state(gateway) == "slow" }
      let slow = try await gateway.browser.get("/health")
      #expect(slow.status == 200 && slow.string("status") == "ok" && slow.bool("database") == true)
      #expect(try await gateway.browser.get("/api/v1/status").status == 200)
      #expect(try await gateway.browser.get("/metrics").text.contains("kith_gateway_upstream_slow{service=\"credits\""))
      gateway.serviceAddresses.set(.credits, to: "http://127.0.0.1:\(try freePort())")
      try await eventually("the end") { try await state(gateway) == "unavailable" }
      #expect(try await gateway.browser.get("/health").status == 503)
    }
  }

  @Test func whoNeverAnswersProbesIsDown() async throws {
    try await withGateway(healthProbe: Self.fastProbe) { gateway in
      try await eventually("the first answer") { gateway.endpoints[0].isKnownAlive }
      gateway.service.answerProbes(after: .seconds(600))
      try await eventually("the silence") { gateway.endpoints[0].status == .silent }
      try await eventually("503") { try await gateway.browser.get("/health").status == 503 }
      // It is the only endpoint, so it is used nevertheless.
      #expect(try await gateway.browser.get("/echo?n=1").status == 200)
      gateway.service.answerProbes(after: .zero)
      try await eventually("its return") { try await gateway.browser.get("/health").status == 200 }
    }
  }

  private func state(_ gateway: TestGateway) async throws -> String? {
    (try await gateway.browser.get("/health")["services"] as? [String: String])?["credits"]
  }

  @Test(arguments: [1, 2, 3]) func whenMostAreOutAllAreUsed(slowCount: Int) async throws {
    try await withGateway(healthProbe: Self.fastProbe, services: 3) { gateway in
      try await eventually("the first answers") { gateway.endpoints.allSatisfy(\.isKnownAlive) }
      for service in gateway.services.prefix(slowCount) { service.answerProbes(after: .seconds(600)) }
      let expected: [EndpointHealth.Status] = (0..<3).map { $0 < slowCount ? .silent : .ready }
      var served: [Int] = []
      repeat {
        try await eventually("the silence") { gateway.endpoints.map(\.status) == expected }
        let before = gateway.services.map(\.requests)
        for _ in 0..<60 { #expect(try await gateway.browser.get("/echo?n=1").status == 200) }
        served = zip(gateway.services, before).map { $0.requests - $1 }
        // Otherwise the machine was so busy that another endpoint was silent for a while.
      } while gateway.endpoints.map(\.status) != expected
      #expect(served.reduce(0, +) == 60)
      if slowCount == 1 { #expect(served[0] == 0) } else { for count in served { #expect(count >= 10, "\(served)") } }
    }
  }

  @Test func aKilledOneIsNoticedByTheFirstRequest() async throws {
    // So rarely that probes do not matter here.
    try await withGateway(healthProbe: HealthProbe(interval: .seconds(3600))) { gateway in
      let second = TestService()
      try await running([second.server()]) {
        let urls = [gateway.service, second].map(\.listening)
        var listed: [String] = []
        for url in urls { listed.append("http://127.0.0.1:\(try await url.number)") }
        gateway.serviceAddresses.set(.credits, to: listed)
        for _ in 0..<40 { #expect(try await gateway.browser.get("/echo?n=1").status == 200) }
        #expect(second.requests >= 10, "the premise")
      }
      for _ in 0..<40 { #expect(try await gateway.browser.get("/echo?n=1").status == 200) }
      #expect(gateway.endpoints.map(\.status) == [.ready, .unreachable])
    }
  }

  @Test func aKilledOneIsNoticedByTheNextProbe() async throws {
    try await withGateway(healthProbe: Self.fastProbe) { gateway in
      let second = TestService()
      try await running([second.server()]) {
        gateway.serviceAddresses.set(.credits, to: "http://127.0.0.1:\(try await second.listening.number)")
        try await eventually("the first answer") { gateway.endpoints[0].isKnownAlive }
      }
      try await eventually("the notice") { gateway.endpoints[0].status == .unreachable }
    }
  }

  @Test func theOnlyEndpointIsHardlyProbedWhileItIsWellAndOftenWhenItIsNot() async throws {
    let healthProbe = HealthProbe(interval: .milliseconds(10), restInterval: .seconds(3600))
    try await withGateway(healthProbe: healthProbe) { gateway in
      try await eventually("rest") {
        let before = gateway.service.probes
        try await Task.sleep(for: .milliseconds(300))
        return before > 0 && gateway.service.probes == before
      }
      // A new address is probed at once, and so is one that fails.
      let second = TestService()
      let urls = [try await gateway.service.listening.number, try freePort()].map { "http://127.0.0.1:\($0)" }
      gateway.serviceAddresses.set(.credits, to: urls[1])
      #expect(try await gateway.browser.get("/echo?n=1").status == 503)
      try await eventually("the failure") { gateway.endpoints[0].status == .unreachable }
      let port = try #require(gateway.endpoints[0].address?.port)
      try await running([second.server(port: port)]) {
        try await eventually("its return") { gateway.endpoints[0].status == .ready }
      }
      gateway.serviceAddresses.set(.credits, to: urls)
      let before = gateway.service.probes
      try await eventually("probes of two") {
        _ = gateway.endpoints; return gateway.service.probes > before + 5
      }
    }
  }

  @Test func whatNeverComesIsWarnedOfWhenTheStartIsOver() async throws {
    let log = RecordedLog()
    let serviceAddresses = ServiceAddresses(Settings(["CREDITS_URL": "http://127.0.0.1:\(try freePort())"]))
    for service in serviceAddresses.configured where service != .credits { serviceAddresses.set(service, to: []) }
    let upstreams = Upstreams(
      serviceAddresses, logger: log.logger,
      healthProbe: HealthProbe(interval: .milliseconds(10), startupGrace: .milliseconds(200)))
    try await running([upstreams]) {
      try await eventually("a warning") { log.count(.warning) == 1 }
    }
    #expect(log.count(.warning) == 1, "once")
  }

  @Test(arguments: [(Duration.seconds(3600), 0), (.zero, 1)])
  func aStartThatGoesWellWarnsOfNothing(startupGrace: Duration, warnings: Int) async throws {
    let log = RecordedLog()
    let serviceAddresses = ServiceAddresses(Settings(["CREDITS_URL": "http://127.0.0.1:\(try freePort())"]))
    for service in serviceAddresses.configured where service != .credits { serviceAddresses.set(service, to: []) }
    let upstreams = Upstreams(
      serviceAddresses, logger: log.logger,
      healthProbe: HealthProbe(interval: .milliseconds(10), startupGrace: startupGrace))
    try await running([upstreams]) {
      try await eventually("the first probe") { log.lines.contains { $0.contains("unreachable") } }
    }
    #expect(log.count(.warning) == warnings)
  }
}
