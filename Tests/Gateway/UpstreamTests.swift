import Foundation
import NIOCore
import Support
import Synchronization
import Testing
import Web

@testable import Gateway

/// Several addresses of one service: who gets the requests, and what happens when one is gone.
@Suite struct UpstreamTests {
  @Test func requestsAreSharedOut() async throws {
    try await withPipe(services: 3) { pipe in
      for _ in 0..<60 {
        let answer = try await pipe.browser.get("/echo?n=1")
        #expect(answer.status == 200)
      }
      for service in pipe.services { #expect(service.requests >= 10, "\(pipe.services.map(\.requests))") }
    }
  }

  @Test func theLeastBusyOneIsAsked() async throws {
    try await withPipe(services: 2) { pipe in
      // Streams keep one of the two busy on every event loop.
      let streams = try await (0..<16).asyncMap { _ in
        let raw = try await RawConnection(port: pipe.port)
        try await raw.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        return raw
      }
      try await eventually("the streams") { pipe.services.map(\.requests).reduce(0, +) == 16 }
      // The premise: they were shared out evenly, so nobody is idle.
      #expect(abs(pipe.services[0].requests - pipe.services[1].requests) <= 4)
      for stream in streams { stream.close() }
    }
  }

  @Test func oneThatIsGoneIsLeftOutAndComesBack() async throws {
    let second = WatchedService()
    let port = try freePort()
    try await withPipe { pipe in
      let first = "http://127.0.0.1:\(try await pipe.service.listening.number)"
      pipe.neighbours.moved(.credits, to: [first, "http://127.0.0.1:\(port)"])
      // Nobody listens there yet: every request is served all the same.
      for _ in 0..<20 { #expect(try await pipe.browser.get("/echo?n=1").status == 200) }
      #expect(pipe.service.requests == 20)
      try await running([second.server(port: port)]) {
        _ = try await second.listening.number
        try await eventually("the second one's return") {
          _ = try await pipe.browser.get("/echo?n=1")
          return second.requests > 0
        }
      }
      for _ in 0..<20 { #expect(try await pipe.browser.get("/echo?n=1").status == 200) }
    }
  }

  @Test func oneThatIsNotReadyGetsRequestsOnlyWhenNoOtherIs() async throws {
    try await withPipe(services: 2) { pipe in
      pipe.services[0].setReady(false)
      try await eventually("the gateway's notice") {
        let before = pipe.services[0].requests
        for _ in 0..<10 { _ = try await pipe.browser.get("/echo?n=1") }
        return pipe.services[0].requests == before
      }
      pipe.services[1].setReady(false)
      for _ in 0..<10 { #expect(try await pipe.browser.get("/echo?n=1").status == 200) }
    }
  }

  @Test func aServiceThatIsStillToComeIsSaidToBeUnavailable() async throws {
    try await withPipe { pipe in
      let answer = try await pipe.browser.get("/away")
      #expect(answer.status == 503)
      #expect(answer.string("code") == "service_unavailable")
      #expect(answer.headers.first(name: "retry-after") == "1")
      #expect(try await pipe.browser.get("/echo?n=1").status == 200)
    }
  }

  @Test func namesAreResolvedAgainWhenTheyChange() async throws {
    let addresses = Mutex(["127.0.0.1"])
    let neighbours = Neighbours(Settings(["CREDITS_URL": "http://credits.test:9"]))
    let upstreams = Upstreams(
      neighbours, logger: quiet, probing: Probing(every: .milliseconds(10)), resolveEvery: .milliseconds(10),
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
