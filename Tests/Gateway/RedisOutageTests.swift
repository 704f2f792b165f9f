import Foundation
import Gateway
import Logging
import Support
import Testing
import Web

/// A Redis that is unavailable, hangs, or replies wrongly never blocks a request.
@Suite(.enabled(if: redisURL != nil, "KITH_TEST_REDIS is not set; `make test` starts a Redis"))
struct RedisOutageTests {
  private let key = LimitKey.user(.random(in: 0 ... .max), .user)

  @Test func withoutRedisEachGatewayCountsAloneAndWithItAgainTogether() async throws {
    let log = RecordedLog()
    let redis = try await RedisServer.start()
    let start = ContinuousClock.now
    try await withLimiters(2, try RedisURL(redis.url), log: log) { gateways in
      for used in 1...6 {
        let verdict = try await gateways[used % 2].take(key)
        #expect((10 - used...10 - used + refilledSince(start)).contains(verdict.remaining))
      }
      await redis.kill()
      // Used quotas are kept: each gateway has four or five left.
      for gateway in gateways {
        let verdicts = try await atOnce(20) { _ in try await gateway.take(key) }
        #expect((4...5 + refilledSince(start)).contains(verdicts.filter(\.isAllowed).count))
        #expect(await !gateway.isShared)
      }
      try await eventually("the warning") { log.count(.warning) > 0 }
      try await RedisServer.start(port: redis.port).whileRunning {
        try await eventually("Redis") {
          for gateway in gateways where await !gateway.isShared { return false }
          return true
        }
        let bob = LimitKey.user(.random(in: 0 ... .max), .user)
        let verdicts = try await atOnce(50) { try await gateways[$0 % 2].take(bob) }
        #expect((10...10 + refilledSince(start)).contains(verdicts.filter(\.isAllowed).count))
      }
      #expect(log.count(.warning) >= 1 && log.count(.notice) == 1)
    }
  }

  @Test func aGatewayThatStartsBeforeRedisFindsItLater() async throws {
    let log = RecordedLog()
    let port = try freePort()
    try await withLimiters(1, try RedisURL("redis://localhost:\(port)"), log: log, isReady: false) { gateways in
      #expect(try await gateways[0].take(key).isAllowed)
      try await eventually("the warning") { log.count(.warning) == 1 }
      try await RedisServer.start(port: port).whileRunning {
        try await eventually("Redis") { await gateways[0].isShared }
        #expect(try await gateways[0].take(key).isAllowed)
        #expect(log.count(.notice) == 1)
      }
    }
  }

  /// SIGSTOP: the kernel accepts connections, and the process does not reply.
  @Test func aRedisThatHangsCostsOneRequestItsTimeoutAndTheNextOnesNothing() async throws {
    let log = RecordedLog()
    let redis = try await RedisServer.start()
    try await redis.whileRunning {
      // Longer than a Redis that runs takes on a busy machine, and so few requests that none comes back meanwhile.
      let url = try RedisURL(redis.url)
      try await withLimiters(1, url, ["RATE_LIMIT_USER": "2"], log: log, timeout: .seconds(1)) { gateways in
        redis.child.signal(SIGSTOP)
        defer { redis.child.signal(SIGCONT) }
        let start = ContinuousClock.now
        let verdicts = try await atOnce(20) { _ in try await gateways[0].take(key) }
        #expect(verdicts.filter(\.isAllowed).count == 2)
        #expect(ContinuousClock.now - start < .seconds(10), "one time-out for all twenty")
        // Connections succeed, but the handshake does not: Redis stays unavailable, and no request waits.
        for _ in 0..<5 {
          #expect(await !gateways[0].isShared)
          #expect(try await gateways[0].takeNow(key)?.isAllowed == false)
          try await Task.sleep(for: .milliseconds(100))
        }
        #expect(log.count(.warning) == 1 && log.count(.notice) == 0)
        #expect(log.lines.first?.contains("no answer within 1000 ms") == true)
        redis.child.signal(SIGCONT)
        try await eventually("Redis") { await gateways[0].isShared }
        #expect(log.count(.warning) == 1 && log.count(.notice) == 1)
      }
    }
  }

  @Test func theRightPasswordOpensAndTheWrongOneIsLoggedWithoutItself() async throws {
    let redis = try await RedisServer.start([
      "--requirepass", "s3cret/@:%", "--user", "bob", "on", ">hunter2", "~*", "+@all",
    ])
    try await redis.whileRunning {
      let right = "s3cret%2F%40%3A%25"
      for user in [":\(right)", "default:\(right)", "bob:hunter2"] {
        try await withLimiters(2, try RedisURL("redis://\(user)@127.0.0.1:\(redis.port)/3")) { gateways in
          let (key, start) = (LimitKey.user(.random(in: 0 ... .max), .user), ContinuousClock.now)
          for used in 1...10 {
            let verdict = try await gateways[used % 2].take(key)
            #expect((10 - used...10 - used + refilledSince(start)).contains(verdict.remaining))
          }
        }
      }
      for user in [":wrong-pass", "bob:wrong-pass", "nobody:wrong-pass", ""] {
        let log = RecordedLog()
        let url = "redis://\(user.isEmpty ? "" : user + "@")127.0.0.1:\(redis.port)"
        try await withLimiters(1, try RedisURL(url), log: log, isReady: false) { gateways in
          try await eventually("the warning") { log.count(.warning) == 1 }
          let verdicts = try await atOnce(20) { _ in try await gateways[0].take(key) }
          #expect(verdicts.filter(\.isAllowed).count == 10)
          #expect(log.lines.allSatisfy { !$0.contains("wrong-pass") && $0.contains("127.0.0.1:\(redis.port)") })
          #expect(log.lines.first?.contains(user.isEmpty ? "NOAUTH" : "WRONGPASS") == true)
        }
      }
    }
  }

  @Test func anOutageIsMeasured() async throws {
    func isAway(_ value: Int, at gateway: TestGateway) async throws -> Bool {
      try await gateway.browser.get("/metrics").text.contains("\nkith_gateway_redis_away \(value)\n")
    }
    let redis = try await RedisServer.start()
    try await redis.whileRunning {
      try await withGateway(["REDIS_URL": redis.url]) { gateway in
        try await eventually("Redis") { try await isAway(0, at: gateway) }
        await redis.kill()
        try await eventually("the outage") { try await isAway(1, at: gateway) }
      }
    }
    try await withGateway { gateway in
      let isMeasured = try await isAway(0, at: gateway)
      #expect(isMeasured, "none is configured")
    }
  }

  @Test func aRedisThatMayNotWriteIsAway() async throws {
    let redis = try await RedisServer.start(["--replicaof", "127.0.0.1 1"])
    try await redis.whileRunning {
      let log = RecordedLog()
      try await withLimiters(1, try RedisURL(redis.url), log: log, isReady: false) { gateways in
        try await eventually("the warning") { log.count(.warning) == 1 }
        #expect(log.lines.first?.contains("READONLY") == true)
        #expect(try await gateways[0].take(key).isAllowed)
      }
    }
  }

  @Test func withTLSTheNameAndTheCertificateMustBeRight() async throws {
    try await withCertificate { folder in
      let certificate = folder + "/certificate.pem"
      let port = try freePort()
      let redis = try await RedisServer.start(
        port: port,
        [
          "--port", "0", "--tls-port", "\(port)", "--tls-auth-clients", "no", "--tls-cert-file", certificate,
          "--tls-key-file", folder + "/key.pem", "--tls-ca-cert-file", certificate,
        ])
      try await redis.whileRunning {
        let right = try RedisURL("rediss://localhost:\(port)", trustRoots: certificate)
        let start = ContinuousClock.now
        try await withLimiters(2, right) { gateways in
          for used in 1...10 {
            let verdict = try await gateways[used % 2].take(key)
            #expect((10 - used...10 - used + refilledSince(start)).contains(verdict.remaining))
          }
        }
        for wrong in [
          try RedisURL("rediss://127.0.0.1:\(port)", trustRoots: certificate),
          try RedisURL("rediss://localhost:\(port)"), try RedisURL("redis://localhost:\(port)"),
        ] {
          let log = RecordedLog()
          try await withLimiters(1, wrong, log: log, isReady: false) { gateways in
            try await eventually("the warning") { log.count(.warning) == 1 }
            #expect(await !gateways[0].isShared)
            #expect(try await gateways[0].take(.user(.random(in: 0 ... .max), .user)).remaining == 9)
          }
        }
      }
    }
  }
}
