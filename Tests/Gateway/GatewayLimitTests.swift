import Foundation
import Gateway
import NIOCore
import Support
import Testing
import Web

/// Rate limits as apps see them: over HTTP, through one gateway and through several.
@Suite struct GatewayLimitTests {
  @Test func callersAreToldWhatIsLeftAndTurnedAwayAtTheEnd() async throws {
    try await withGateway(["RATE_LIMIT": "3"]) { gateway in
      for left in [2, 1, 0] {
        let response = try await gateway.browser.get("/echo?n=1")
        #expect(response.status == 200)
        #expect(response.headers["x-ratelimit-limit"] == ["3"])
        #expect(response.headers["x-ratelimit-remaining"] == ["\(left)"])
        #expect(response.headers["ratelimit-policy"] == ["\"anonymous\";q=3;w=60"])
        let reset = try #require(response.headers.first(name: "x-ratelimit-reset").flatMap { Int($0) })
        #expect((0...61).contains(reset - Int(Date().timeIntervalSince1970)))
      }
      let refused = try await gateway.browser.get("/echo?n=1")
      #expect(refused.status == 429)
      #expect(refused.string("code") == "rate_limited")
      let seconds = try #require(refused.headers.first(name: "retry-after").flatMap { Int($0) })
      #expect((1...20).contains(seconds))
      #expect(refused.headers["x-ratelimit-remaining"] == ["0"])
      #expect(gateway.service.requests == 3)
      // Requests that are not counted are not refused and have no rate limit headers.
      let health = try await gateway.browser.get("/health")
      #expect(health.status == 200)
      #expect(health.headers["ratelimit"].isEmpty)
      // Another class has its own quota.
      #expect(try await gateway.browser.post("/try").status == 200)
    }
  }

  /// Passwords and refresh tokens may share a path. A query that could be either counts as a sign-in.
  @Test func aRefreshIsToldFromASignInByItsWholeQuery() async throws {
    // So few that none comes back while a busy machine sends these requests.
    try await withGateway(["RATE_LIMIT_SIGN_IN": "1", "RATE_LIMIT_REFRESH": "3"]) { gateway in
      for query in [
        "", "?", "?grant=password", "?grant=refresh&grant=password", "?grant=password&grant=refresh", "?Grant=refresh",
        "?grant=refres%68",
      ] {
        let response = try await gateway.browser.post("/try\(query)")
        #expect(response.headers["ratelimit-policy"] == ["\"sign-in\";q=1;w=60"], "\(query)")
      }
      #expect(try await gateway.browser.post("/try?grant=password").status == 429)
      for path in ["/try?grant=refresh", "/try/?grant=refresh", "/try?grant=refresh"] {
        let response = try await gateway.browser.post(path)
        #expect(response.status == 200 && response.headers["ratelimit-policy"] == ["\"refresh\";q=3;w=60"])
      }
      #expect(try await gateway.browser.post("/try?grant=refresh").status == 429)
    }
  }

  @Test func usersAreCountedByThemselvesAndServicesAreNot() async throws {
    try await withGateway(["RATE_LIMIT_USER": "2"]) { gateway in
      let alice = try await gateway.stack.signIn("alice")
      let bob = try await gateway.stack.signIn("bob")
      for user in [alice, bob] {
        let browser = gateway.browser.bearing(user.access)
        #expect(try await browser.get("/who").status == 200)
        #expect(try await browser.get("/who").headers["ratelimit-policy"] == ["\"user\";q=2;w=60"])
        #expect(try await browser.get("/who").status == 429)
      }
      let service = gateway.browser.with(gateway.stack.with(key: "sync+act")).with(["X-User-ID": alice.id.description])
      for _ in 0..<5 { #expect(try await service.get("/who").status == 200) }
    }
  }

  /// On one connection, so that all requests use the token cache of one event loop.
  @Test func whoGuessesBearersIsTurnedAwayAndNobodyElse() async throws {
    try await withGateway(["RATE_LIMIT": "3"]) { gateway in
      let alice = try await gateway.stack.signIn("alice")
      let bob = try await gateway.stack.signIn("bob")
      let raw = try await RawConnection(port: gateway.port)
      // Requests of anonymous callers do not use up the quota of users.
      let anonymous = try await raw.ask(Array(repeating: "/echo?n=1", count: 4))
      #expect(anonymous.map(\.status) == [200, 200, 200, 429])
      #expect(try await raw.ask(["/who"], bearer: alice.access).map(\.status) == [200])
      let guesses = try await raw.ask(Array(repeating: "/who", count: 4), bearer: alice.access + "x")
      #expect(guesses.map(\.status) == [401, 401, 401, 429])
      #expect(guesses.allSatisfy { $0.head.contains("ratelimit-policy: \"refused\";q=3;w=60\r\n") })
      #expect(guesses.last?.head.contains("\r\nretry-after: ") == true)
      // Alice's token is cached; bob's is not verified while the quota of rejected credentials is used up.
      #expect(try await raw.ask(["/who"], bearer: alice.access).map(\.status) == [200])
      #expect(try await raw.ask(["/who"], bearer: bob.access).map(\.status) == [429])
      raw.close()
    }
  }

  @Test func whatTheGatewayAnswersByItselfIsCountedToo() async throws {
    try await withGateway(["RATE_LIMIT": "4"]) { gateway in
      let service = gateway.browser.with(gateway.stack.with(key: "plain"))
      // Not counted. The document is then cached, so that the others take less time than a request needs to come back.
      #expect(try await service.get("/openapi.json").status == 200)
      for (method, path, status) in [
        ("GET", "/openapi.json", 200), ("GET", "/", 200), ("GET", "/nowhere", 404), ("PUT", "/count", 405),
        ("PUT", "/count", 429), ("GET", "/openapi.json", 429), ("GET", "/nowhere", 429), ("GET", "/health", 200),
        ("GET", "/health/live", 200), ("GET", "/health/ready", 200), ("OPTIONS", "/count", 204),
      ] {
        let response = try await gateway.browser.send(.init(rawValue: method), path)
        #expect(response.status == status, "\(method) \(path)")
        let isCounted = ![200, 204].contains(status) || ["/", "/openapi.json"].contains(path)
        #expect(response.headers["ratelimit-policy"] == (isCounted ? ["\"anonymous\";q=4;w=60"] : []))
      }
      #expect(try await service.get("/openapi.json").status == 200)
    }
  }

  @Test func aForgedAddressChangesNothingAndATrustedProxysWordCounts() async throws {
    try await withGateway(["RATE_LIMIT": "2"]) { gateway in
      for number in 1...2 {
        let response = try await gateway.browser.with(["X-Forwarded-For": "203.0.113.\(number)"]).get("/echo?n=1")
        #expect(response.status == 200)
      }
      #expect(try await gateway.browser.with(["X-Forwarded-For": "203.0.113.3"]).get("/echo?n=1").status == 429)
    }
    try await withGateway(["RATE_LIMIT": "2", "TRUSTED_PROXIES": "127.0.0.0/8"]) { gateway in
      let first = gateway.browser.with(["X-Forwarded-For": "6.6.6.6, 203.0.113.1"])
      let seen = try #require(try await first.get("/echo?n=1")["headers"] as? [String: String])
      #expect(seen["x-forwarded-for"] == "203.0.113.1")
      #expect(try await first.get("/echo?n=1").status == 200)
      // Entries that the client wrote before the proxy's do not give it another quota.
      let prepended = try await gateway.browser.with(["X-Forwarded-For": "7.7.7.7, 203.0.113.1"]).get("/echo?n=1")
      #expect(prepended.status == 429)
      #expect(try await gateway.browser.with(["X-Forwarded-For": "203.0.113.2"]).get("/echo?n=1").status == 200)
    }
  }

  @Test func severalGatewaysCountAsOneAndGoOnWhenRedisIsGone() async throws {
    let server = try await RedisServer.start()
    try await server.whileRunning {
      let limits = ["RATE_LIMIT": "20", "REDIS_URL": server.url]
      // Long, so that no gateway counts by itself on a busy machine.
      let timeouts = Timeouts(redis: .seconds(20))
      try await withGateway(limits, timeouts: timeouts) { first in
        let settings = first.stack.dependencies(of: "gateway").settings.overlaid(limits)
        let second = try buildGateway(
          Dependencies(settings, serviceAddresses: first.serviceAddresses, logger: quiet),
          routes: TestGateway.routes, timeouts: timeouts)
        try await running([second]) {
          let browsers = [first.browser, Browser("http://127.0.0.1:\(try await second.port.number)")]
          // Until it is connected to Redis, a gateway counts by itself.
          try await eventually("every event loop at Redis") {
            let clients = try await redisCLI(server.url, "client", "list").split(separator: "\n").count
            return clients > 2 * System.coreCount
          }
          let began = ContinuousClock.now
          let passed = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<60 {
              group.addTask { try await browsers[index % 2].get("/echo?n=1").status == 200 ? 1 : 0 }
            }
            return try await group.reduce(0, +)
          }
          // One more for every three seconds that it took, at twenty a minute.
          #expect((20...20 + Int((.now - began) / .seconds(3))).contains(passed), "\(passed)")
          await server.kill()
          for browser in browsers {
            let status = try await browser.get("/echo?n=1").status
            #expect(status == 200 || status == 429)
          }
        }
      }
    }
  }
}

private struct RawResponseHead {
  let status: Int
  let head: String
}

extension RawConnection {
  /// Sends the requests one after the other and returns their responses.
  fileprivate func ask(_ paths: [String], bearer: String? = nil) async throws -> [RawResponseHead] {
    let authorization = bearer.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    let known = try await received().components(separatedBy: "HTTP/1.1 ").count
    for (index, path) in paths.enumerated() {
      try await send("GET \(path) HTTP/1.1\r\nHost: x\r\n\(authorization)\r\n")
      try await eventually("an answer") {
        let responses = try await received().components(separatedBy: "HTTP/1.1 ")
        return responses.count == known + index + 1 && responses.last?.contains("\r\n\r\n") == true
      }
    }
    return try await received().components(separatedBy: "HTTP/1.1 ").dropFirst(known).map {
      RawResponseHead(status: Int($0.prefix(3)) ?? 0, head: $0.components(separatedBy: "\r\n\r\n")[0] + "\r\n")
    }
  }
}
