import Foundation
import Support
import Testing
import Web

@testable import Gateway

/// Services that are slow to say how they are, and services that are gone: the gateway must tell them apart.
@Suite struct SlowServiceTests {
  /// Probes that are over soon, for tests that wait for many.
  private static let hasty = Probing(every: .milliseconds(20), patience: .seconds(2))

  @Test func theSlowerOfTwoKeepsItsShare() async throws {
    try await withPipe(services: 2) { pipe in
      try await eventually("the first answers") { pipe.endpoints.allSatisfy(\.isKnownToLive) }
      pipe.services[0].answerProbes(after: .milliseconds(800))
      pipe.services[1].answerProbes(after: .milliseconds(2400))
      let before = pipe.services.map(\.probes)
      // Those of `/health` among them.
      while pipe.services[1].probes < before[1] + 10 {
        #expect(pipe.endpoints.map(\.standing) == [.ready, .ready])
        #expect(try await pipe.browser.get("/health").status == 200)
        try await Task.sleep(for: .milliseconds(50))
      }
      #expect(pipe.endpoints[1].isSlow)
      let requests = pipe.services.map(\.requests)
      for _ in 0..<40 { #expect(try await pipe.browser.get("/echo?n=1").status == 200) }
      for (service, count) in zip(pipe.services, requests) { #expect(service.requests - count >= 10) }
    }
  }

  @Test func healthTellsSlowFromDown() async throws {
    try await withPipe { pipe in
      pipe.service.answerProbes(after: .milliseconds(2400))
      try await eventually("the slowness") { try await state(pipe) == "slow" }
      let slow = try await pipe.browser.get("/health")
      #expect(slow.status == 200 && slow.string("status") == "ok" && slow.bool("database") == true)
      #expect(try await pipe.browser.get("/api/v1/status").status == 200)
      #expect(try await pipe.browser.get("/metrics").text.contains("kith_gateway_upstream_slow{service=\"credits\""))
      pipe.neighbours.moved(.credits, to: "http://127.0.0.1:\(try freePort())")
      try await eventually("the end") { try await state(pipe) == "unavailable" }
      #expect(try await pipe.browser.get("/health").status == 503)
    }
  }

  @Test func whoNeverAnswersProbesIsDown() async throws {
    try await withPipe(probing: Self.hasty) { pipe in
      try await eventually("the first answer") { pipe.endpoints[0].isKnownToLive }
      pipe.service.answerProbes(after: .seconds(600))
      try await eventually("the silence") { pipe.endpoints[0].standing == .silent }
      try await eventually("503") { try await pipe.browser.get("/health").status == 503 }
      // It is all there is, so it is asked nevertheless.
      #expect(try await pipe.browser.get("/echo?n=1").status == 200)
      pipe.service.answerProbes(after: .zero)
      try await eventually("its return") { try await pipe.browser.get("/health").status == 200 }
    }
  }

  private func state(_ pipe: Pipe) async throws -> String? {
    (try await pipe.browser.get("/health")["services"] as? [String: String])?["credits"]
  }

  @Test(arguments: [1, 2, 3]) func whenMostAreOutAllAreUsed(silent: Int) async throws {
    try await withPipe(probing: Self.hasty, services: 3) { pipe in
      try await eventually("the first answers") { pipe.endpoints.allSatisfy(\.isKnownToLive) }
      for service in pipe.services.prefix(silent) { service.answerProbes(after: .seconds(600)) }
      let expected: [EndpointHealth.Standing] = (0..<3).map { $0 < silent ? .silent : .ready }
      var served: [Int] = []
      repeat {
        try await eventually("the silence") { pipe.endpoints.map(\.standing) == expected }
        let before = pipe.services.map(\.requests)
        for _ in 0..<60 { #expect(try await pipe.browser.get("/echo?n=1").status == 200) }
        served = zip(pipe.services, before).map { $0.requests - $1 }
        // Otherwise the machine was so busy that one more was silent for a while.
      } while pipe.endpoints.map(\.standing) != expected
      #expect(served.reduce(0, +) == 60)
      if silent == 1 { #expect(served[0] == 0) } else { for count in served { #expect(count >= 10, "\(served)") } }
    }
  }

  @Test func aKilledOneIsNoticedByTheFirstRequest() async throws {
    // Probes have no part in this.
    try await withPipe(probing: Probing(every: .seconds(3600))) { pipe in
      let second = WatchedService()
      try await running([second.server()]) {
        let urls = [pipe.service, second].map(\.listening)
        var listed: [String] = []
        for url in urls { listed.append("http://127.0.0.1:\(try await url.number)") }
        pipe.neighbours.moved(.credits, to: listed)
        for _ in 0..<40 { #expect(try await pipe.browser.get("/echo?n=1").status == 200) }
        #expect(second.requests >= 10, "the premise")
      }
      for _ in 0..<40 { #expect(try await pipe.browser.get("/echo?n=1").status == 200) }
      #expect(pipe.endpoints.map(\.standing) == [.ready, .unreachable])
    }
  }

  @Test func aKilledOneIsNoticedByTheNextProbe() async throws {
    try await withPipe { pipe in
      let second = WatchedService()
      try await running([second.server()]) {
        pipe.neighbours.moved(.credits, to: "http://127.0.0.1:\(try await second.listening.number)")
        try await eventually("the first answer") { pipe.endpoints[0].isKnownToLive }
      }
      try await eventually("the notice") { pipe.endpoints[0].standing == .unreachable }
    }
  }

  @Test func whatNeverComesIsWarnedOfWhenTheStartIsOver() async throws {
    let log = RecordedLog()
    let neighbours = Neighbours(Settings(["CREDITS_URL": "http://127.0.0.1:\(try freePort())"]))
    for service in neighbours.present where service != .credits { neighbours.moved(service, to: []) }
    let upstreams = Upstreams(
      neighbours, logger: log.logger, probing: Probing(every: .milliseconds(10), quietFor: .milliseconds(200)))
    try await running([upstreams]) {
      try await eventually("a warning") { log.count(.warning) == 1 }
    }
    #expect(log.count(.warning) == 1, "once")
  }

  @Test(arguments: [(Duration.seconds(3600), 0), (.zero, 1)])
  func aStartThatGoesWellWarnsOfNothing(quietFor: Duration, warnings: Int) async throws {
    let log = RecordedLog()
    let neighbours = Neighbours(Settings(["CREDITS_URL": "http://127.0.0.1:\(try freePort())"]))
    for service in neighbours.present where service != .credits { neighbours.moved(service, to: []) }
    let upstreams = Upstreams(
      neighbours, logger: log.logger, probing: Probing(every: .milliseconds(10), quietFor: quietFor))
    try await running([upstreams]) {
      try await eventually("the first probe") { log.lines.contains { $0.contains("unreachable") } }
    }
    #expect(log.count(.warning) == warnings)
  }
}
