import Foundation
import Gateway
import Support
import Testing
import Web

/// Several gateways that count together in Redis.
@Suite(.enabled(if: redisURL != nil, "KITH_TEST_REDIS is not set; `make test` starts a Redis"))
struct RedisLimitTests {
  @Test func ofAHundredAtOnceAtFourGatewaysExactlyTheQuotaPasses() async throws {
    let url = try RedisURL(redisURL ?? "")
    try await withLimiters(4, url) { gateways in
      let key = LimitKey.user(.random(in: 0 ... .max), .user)
      let start = ContinuousClock.now
      let verdicts = try await atOnce(100) { try await gateways[$0 % 4].take(key) }
      let allowed = verdicts.filter(\.isAllowed)
      let late = refilledSince(start)
      #expect((10...10 + late).contains(allowed.count))
      if late == 0 { #expect(allowed.map(\.remaining).sorted() == Array(0..<10)) }
      for refused in verdicts where !refused.isAllowed {
        #expect(refused.remaining == 0 && refused.retryAfter > 0 && refused.retryAfter <= 6 * second)
        #expect(refused.resetAfter > 50 * second && refused.resetAfter <= 60 * second)
      }
    }
  }

  @Test func everyGatewayKnowsWhatTheOthersAllowed() async throws {
    try await withLimiters(2, try RedisURL(redisURL ?? "")) { gateways in
      let (alice, start) = (LimitKey.user(.random(in: 0 ... .max), .user), ContinuousClock.now)
      for used in 1...10 {
        let verdict = try await gateways[used % 2].take(alice)
        #expect(verdict.isAllowed && verdict.limit == 10)
        #expect((10 - used...10 - used + refilledSince(start)).contains(verdict.remaining))
      }
      var allowed = 0
      for gateway in gateways where try await gateway.take(alice).isAllowed { allowed += 1 }
      #expect(allowed <= refilledSince(start))
      // Other users, and her other classes, are counted separately.
      let bob = LimitKey.user(.random(in: 0 ... .max), .user)
      #expect(try await gateways[0].take(bob).remaining == 9)
      let search = LimitKey.user(UInt128(alice.high) << 64 | UInt128(alice.low), .search)
      #expect(try await gateways[0].take(search).remaining == 49)
    }
  }

  @Test func retryAfterIsTrueToTheMillisecond() async throws {
    try await withLimiters(2, try RedisURL(redisURL ?? ""), ["RATE_LIMIT_USER": "10"]) { gateways in
      let key = LimitKey.user(.random(in: 0 ... .max), .user)
      for _ in 0..<100 { if try await !gateways[0].take(key).isAllowed { break } }
      // This gateway has no entry yet, so this is the verdict of Redis.
      let refusal = try await gateways[1].take(key)
      let wait = refusal.retryAfter
      #expect(!refusal.isAllowed && wait > 0 && wait <= 6 * second)
      try await Task.sleep(for: .nanoseconds(wait + millisecond))
      #expect(try await gateways[1].take(key).isAllowed)
    }
  }

  @Test func aKeyGoesWhenItsQuotaIsWholeAgain() async throws {
    let url = redisURL ?? ""
    try await withLimiters(1, try RedisURL(url), ["RATE_LIMIT_SIGN_IN": "6"]) { gateways in
      let network = UInt32.random(in: 0...0xFFFF)
      let address = try #require(IPAddress("2001:db8:0:\(String(network, radix: 16))::1"))
      #expect(try await gateways[0].take(.address(address, .signIn)).isAllowed)
      let hex = String(repeating: "0", count: 8 - String(network, radix: 16).count) + String(network, radix: 16)
      let name = "kith:limit:sign-in:i:20010db8\(hex)0000000000000000"
      let left = try #require(Int(try await redisCLI(url, "pttl", name)))
      #expect((1...10_000).contains(left))
      try await eventually("the end of the key") { try await redisCLI(url, "exists", name) == "0" }
    }
  }

  @Test func aRedisThatForgotTheScriptIsToldAgain() async throws {
    let url = redisURL ?? ""
    let log = RecordedLog()
    try await withLimiters(1, try RedisURL(url), log: log) { gateways in
      let key = LimitKey.user(.random(in: 0 ... .max), .user)
      let start = ContinuousClock.now
      #expect(try await gateways[0].take(key).remaining == 9)
      #expect(try await redisCLI(url, "script", "flush") == "OK")
      let verdicts = try await atOnce(20) { _ in try await gateways[0].take(key) }
      #expect((9...9 + refilledSince(start)).contains(verdicts.filter(\.isAllowed).count))
      #expect(await gateways[0].isShared)
      #expect(log.lines.isEmpty)
    }
  }

  @Test func aValueThatIsNoTimeIsAWholeQuota() async throws {
    let url = redisURL ?? ""
    try await withLimiters(1, try RedisURL(url)) { gateways in
      for command in ["set", "rpush"] {
        for value in ["", "x", "-5", "1e400", "99999999999999999999999999999999"] {
          let low = UInt64.random(in: 0 ... .max)
          let hex = String(low, radix: 16)
          let name = "kith:limit:user:u:" + String(repeating: "0", count: 32 - hex.count) + hex
          _ = try await redisCLI(url, command, name, value)
          let verdict = try await gateways[0].take(.user(UInt128(low), .user))
          // A time in the far future counts as at most a minute ahead.
          #expect(command == "set" && value.count > 20 ? verdict.resetAfter == 60 * second : verdict.remaining == 9)
        }
      }
      #expect(await gateways[0].isShared)
    }
  }

  /// A refusal that follows from memory is not sent to Redis.
  @Test func aFloodStaysAtTheGateway() async throws {
    let url = redisURL ?? ""
    try await withLimiters(1, try RedisURL(url), ["RATE_LIMIT_USER": "1"]) { gateways in
      let key = LimitKey.user(.random(in: 0 ... .max), .user)
      let first = try await gateways[0].take(key)
      #expect(first.isAllowed)
      let name = "kith:limit:user:u:" + hex(key.high) + hex(key.low)
      #expect(try await redisCLI(url, "del", name) == "1")
      for _ in 0..<100 { #expect(try await !gateways[0].take(key).isAllowed) }
      #expect(try await redisCLI(url, "exists", name) == "0", "Redis was not asked")
    }
  }

  private func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
