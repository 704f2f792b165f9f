import Foundation
import NIOCore
import Support
import Synchronization
import Testing
import Web

@testable import Gateway

/// Load balancing between several addresses of one service, and failing addresses.
@Suite struct UpstreamTests {
  @Test func requestsAreSharedOut() async throws {
    try await withGateway(services: 3) { gateway in
      for _ in 0..<60 {
        let response = try await gateway.browser.get("/echo?n=1")
        #expect(response.status == 200)
      }
      for service in gateway.services { #expect(service.requests >= 10, "\(gateway.services.map(\.requests))") }
    }
  }

  @Test func theLeastBusyOneIsAsked() async throws {
    try await withGateway(services: 2) { gateway in
      // Each stream occupies one of the two services.
      let streams = try await (0..<16).asyncMap { _ in
        let raw = try await RawConnection(port: gateway.port)
        try await raw.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        return raw
      }
      try await eventually("the streams") { gateway.services.map(\.requests).reduce(0, +) == 16 }
      // The premise: they were balanced evenly.
      #expect(abs(gateway.services[0].requests - gateway.services[1].requests) <= 4)
      for stream in streams { stream.close() }
    }
  }

  @Test func oneThatIsGoneIsLeftOutAndComesBack() async throws {
    let second = TestService()
    let port = try freePort()
    try await withGateway { gateway in
      let first = "http://127.0.0.1:\(try await gateway.service.listening.number)"
      gateway.serviceAddresses.set(.credits, to: [first, "http://127.0.0.1:\(port)"])
      // Nothing listens there yet: every request is served all the same.
      for _ in 0..<20 { #expect(try await gateway.browser.get("/echo?n=1").status == 200) }
      #expect(gateway.service.requests == 20)
      try await running([second.server(port: port)]) {
        _ = try await second.listening.number
        try await eventually("the second one's return") {
          _ = try await gateway.browser.get("/echo?n=1")
          return second.requests > 0
        }
      }
      for _ in 0..<20 { #expect(try await gateway.browser.get("/echo?n=1").status == 200) }
    }
  }

  /// While the only one is replaced, requests are answered by 503 and a time to come back, and succeed again within a
  /// second of its listening. A busy machine may hold one return up, but not all of them.
  @Test func theOnlyOneIsAwayUntilItListensAgain() async throws {
    let port = try freePort()
    try await withGateway(["RATE_LIMIT": "100000"]) { gateway in
      gateway.serviceAddresses.set(.credits, to: ["http://127.0.0.1:\(port)"])
      var delays: [Duration] = []
      for _ in 0..<3 {
        for _ in 0..<50 {
          let response = try await gateway.browser.get("/echo?n=1")
          #expect(response.status == 503 && response.headers.first(name: "retry-after") == "1", "\(response.text)")
          try await Task.sleep(for: .milliseconds(20))
        }
        let replacement = TestService()
        try await running([replacement.server(port: port)]) {
          _ = try await replacement.listening.number
          let listeningAt = ContinuousClock.now
          try await eventually("its return") { try await gateway.browser.get("/echo?n=1").status == 200 }
          delays.append(ContinuousClock.now - listeningAt)
        }
      }
      let (least, most) = (try #require(delays.min()), try #require(delays.max()))
      #expect(least < .seconds(1) && most < .seconds(3), "\(delays)")
    }
  }

  @Test func oneThatIsNotReadyGetsRequestsOnlyWhenNoOtherIs() async throws {
    try await withGateway(services: 2) { gateway in
      gateway.services[0].setReady(false)
      try await eventually("the gateway's notice") {
        let before = gateway.services[0].requests
        for _ in 0..<10 { _ = try await gateway.browser.get("/echo?n=1") }
        return gateway.services[0].requests == before
      }
      gateway.services[1].setReady(false)
      for _ in 0..<10 { #expect(try await gateway.browser.get("/echo?n=1").status == 200) }
    }
  }

  @Test func aServiceThatIsStillToComeIsSaidToBeUnavailable() async throws {
    try await withGateway { gateway in
      let response = try await gateway.browser.get("/away")
      #expect(response.status == 503)
      #expect(response.string("code") == "service_unavailable")
      #expect(response.headers.first(name: "retry-after") == "1")
      #expect(try await gateway.browser.get("/echo?n=1").status == 200)
    }
  }

  @Test func namesAreResolvedAgainWhenTheyChange() async throws {
    let addresses = Mutex(["127.0.0.1"])
    let serviceAddresses = ServiceAddresses(Settings(["CREDITS_URL": "http://credits.test:9"]))
    let upstreams = Upstreams(
      serviceAddresses, logger: quiet, healthProbe: HealthProbe(interval: .milliseconds(10)),
      resolveInterval: .milliseconds(10),
      resolve: { url in
        // `try?`: these are addresses.
        addresses.withLock { $0 }.compactMap { try? SocketAddress(ipAddress: $0, port: url.port) }
      })
    func known() -> Set<String> { Set(upstreams.endpoints(of: .credits).compactMap { $0.address?.ipAddress }) }
    #expect(upstreams.endpoints(of: .credits).count == 1, "the name itself, until it is resolved")
    try await running([upstreams]) {
      try await eventually("the first addresses") { known() == ["127.0.0.1"] }
      let kept = upstreams.endpoints(of: .credits)[0]
      let before = upstreams.generation
      addresses.withLock { $0 = ["127.0.0.1", "127.0.0.2"] }
      try await eventually("the second address") { known() == ["127.0.0.1", "127.0.0.2"] }
      #expect(upstreams.generation != before)
      #expect(upstreams.endpoints(of: .credits).contains { $0 === kept })
      addresses.withLock { $0 = [] }
      try await Task.sleep(for: .milliseconds(50))
      #expect(known() == ["127.0.0.1", "127.0.0.2"], "a resolver that is away changes nothing")
      addresses.withLock { $0 = ["127.0.0.2"] }
      try await eventually("the first one's end") { known() == ["127.0.0.2"] }
    }
  }

  /// What takes the place of a container has another address, which is known some time after the end of the one before.
  @Test func namesAreResolvedMoreOftenWhileAnAddressIsNotReady() async throws {
    let service = TestService()
    let address = Mutex("127.0.0.1")
    try await running([service.server()]) {
      let port = try await service.listening.number
      let upstreams = Upstreams(
        ServiceAddresses(Settings(["CREDITS_URL": "http://credits.test:\(port)"])), logger: quiet,
        healthProbe: HealthProbe(interval: .milliseconds(10)), resolveInterval: .seconds(3600),
        // `try?`: these are addresses.
        resolve: { url in (try? SocketAddress(ipAddress: address.withLock { $0 }, port: url.port)).map { [$0] } })
      func endpoint() -> Endpoint? { upstreams.endpoints(of: .credits).first }
      func known() -> String? { endpoint()?.address?.ipAddress }
      try await running([upstreams]) {
        try await eventually("its readiness") { known() == "127.0.0.1" && endpoint()?.isWell == true }
        service.setReady(false)
        try await eventually("the gateway's notice") { endpoint()?.isWell == false }
        try await Task.sleep(for: .milliseconds(200))
        #expect(known() == "127.0.0.1")
        address.withLock { $0 = "127.0.0.2" }
        try await eventually("its other address") { known() == "127.0.0.2" }
      }
    }
  }

  @Test(arguments: [
    "http://a:80", "https://a", "http://[::1]:1", "http://127.0.0.1/", "http://a_b.c:65535",
  ])
  func addressesAreUnderstood(text: String) { #expect(UpstreamURL(text) != nil) }

  @Test(arguments: [
    "", "a:80", "ftp://a", "http://", "http://a:0", "http://a:x", "http://:80", "http://[::1", "http://a:70000",
  ])
  func andWhatIsNoneIsNot(text: String) { #expect(UpstreamURL(text) == nil) }
}

extension Range where Bound == Int {
  fileprivate func asyncMap<T>(_ body: (Int) async throws -> T) async rethrows -> [T] {
    var all: [T] = []
    for index in self { all.append(try await body(index)) }
    return all
  }
}
