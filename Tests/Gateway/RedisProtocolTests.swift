import Gateway
import NIOCore
import Support
import Synchronization
import Testing
import Web

/// The commands that are sent to Redis, and the handling of replies that no Redis sends.
@Suite struct RedisProtocolTests {
  private let key = LimitKey.user(0x0123_4567_89AB_CDEF_FEDC_BA98_7654_3210, .user)

  @Test func itIsAskedAsItHasToBe() async throws {
    let reply: @Sendable (String) -> String? = { FakeRedis.handshakeReply($0) ?? "*2\r\n:1\r\n:6000000000\r\n" }
    try await FakeRedis.with(reply) { redis in
      try await withLimiters(1, try RedisURL("redis://bob:p%40ss@\(redis.url)/7")) { gateways in
        let verdict = try await gateways[0].take(key)
        #expect(verdict.isAllowed && verdict.remaining == 9 && verdict.resetAfter == 6 * second)
      }
      let hash = String(repeating: "a1", count: 20)
      #expect(redis.packets.count == 3)
      #expect(
        redis.packets.first?.hasPrefix(
          "*3\r\n$4\r\nAUTH\r\n$3\r\nbob\r\n$4\r\np@ss\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n7\r\n"
            + "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$") == true)
      let words = [
        ("EVALSHA", 7), (hash, 40), ("1", 1), ("kith:limit:user:u:0123456789abcdeffedcba9876543210", 50),
        ("6000000000", 10), ("60000000000", 11),
      ]
      #expect(redis.packets.last == "*6\r\n" + words.map { "$\($0.1)\r\n\($0.0)\r\n" }.joined())
    }
  }

  /// For any reply that is not a verdict.
  @Test(arguments: [
    "", "*2\r\n:2\r\n:0\r\n", "*2\r\n:1\r\n:0\r\n", "*2\r\n:1\r\n:60000000001\r\n", "*2\r\n:1\r\n:-1\r\n",
    "*2\r\n:0\r\n:1\r\n", "*2\r\n:0\r\n:60000000001\r\n", "*1\r\n:1\r\n", "*3\r\n:1\r\n:1\r\n:1\r\n", ":1\r\n",
    "+OK\r\n", "$-1\r\n", "*-1\r\n", "*2\r\n$1\r\n1\r\n$1\r\n1\r\n", "-ERR no\r\n", "-OOM command not allowed\r\n",
    "-NOSCRIPT No matching script\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "*2\r\n:1\r\n", "*999999999\r\n", "$-9\r\n",
  ])
  func anAnswerThatIsNoneIsALocalVerdict(words: String) async throws {
    let log = RecordedLog()
    // "" stands for closing the connection; an incomplete reply is waited for.
    let reply: @Sendable (String) -> String? = { FakeRedis.handshakeReply($0) ?? (words.isEmpty ? nil : words) }
    try await FakeRedis.with(reply) { redis in
      let url = try RedisURL("redis://\(redis.url)")
      try await withLimiters(1, url, log: log, timeout: .milliseconds(500)) { gateways in
        let start = ContinuousClock.now
        let verdicts = try await atOnce(20) { _ in try await gateways[0].take(key) }
        #expect(verdicts.filter(\.isAllowed).map(\.remaining).sorted() == Array(0..<10))
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(log.count(.warning) >= 1)
      }
    }
  }

  /// Some errors repeat the command, and the command contains the password.
  @Test(arguments: ["-ERR unknown command AUTH, with args hunter2 hunter2\r\n", "-hunter2hunter2hunter2hunter2\r\n"])
  func aRedisThatRepeatsThePasswordIsNotQuoted(words: String) async throws {
    let log = RecordedLog()
    try await FakeRedis.with({ _ in words }) { redis in
      let url = try RedisURL("redis://bob:hunter2@\(redis.url)")
      try await withLimiters(1, url, log: log, isReady: false) { gateways in
        try await eventually("the warning") { log.count(.warning) > 0 }
        #expect(log.lines.allSatisfy { !$0.contains("hunter2") && !$0.contains("bob") })
        #expect(try await gateways[0].take(key).isAllowed)
      }
    }
  }

  @Test func wordsThatNobodyAskedForEndTheConnection() async throws {
    let log = RecordedLog()
    let reply: @Sendable (String) -> String? = { packet in
      FakeRedis.handshakeReply(packet) ?? "*2\r\n:1\r\n:6000000000\r\n*2\r\n:0\r\n:60000000000\r\n"
    }
    try await FakeRedis.with(reply) { redis in
      try await withLimiters(1, try RedisURL("redis://\(redis.url)"), log: log) { gateways in
        #expect(try await gateways[0].take(key).isAllowed)
        try await eventually("the warning") { log.count(.warning) > 0 }
        #expect(log.lines.first?.contains("nobody asked") == true)
        // The second reply was not used for another request.
        #expect(try await gateways[0].take(.user(5, .user)).isAllowed)
      }
    }
  }

  @Test func moreThanCanWaitAreCountedHere() async throws {
    let reply: @Sendable (String) -> String? = { FakeRedis.handshakeReply($0) ?? "" }
    try await FakeRedis.with(reply) { redis in
      let url = try RedisURL("redis://\(redis.url)")
      try await withLimiters(1, url, timeout: .seconds(60)) { gateways in
        let waiting = try await gateways[0].ask(10_000)
        #expect(waiting == 10_000)
        #expect(try await gateways[0].ask(50) == 0)
        #expect(await gateways[0].isShared)
      }
    }
  }

  @Test func whoeverWaitsWhenItStopsGetsAVerdict() async throws {
    let reply: @Sendable (String) -> String? = { FakeRedis.handshakeReply($0) ?? "" }
    try await FakeRedis.with(reply) { redis in
      let url = try RedisURL("redis://\(redis.url)")
      try await withLimiters(1, url, timeout: .seconds(60)) { gateways in
        async let verdicts = atOnce(20) { _ in try await gateways[0].take(key) }
        try await eventually("the questions") { redis.packets.contains { $0.contains("kith:limit:user") } }
        try await gateways[0].stop()
        #expect(try await verdicts.filter(\.isAllowed).count == 10)
        #expect(await !gateways[0].isShared)
        let packets = redis.packets.count
        try await Task.sleep(for: .milliseconds(500))
        #expect(redis.packets.count == packets, "it does not come back")
      }
    }
  }

  @Test func aConnectionThatNobodyUsesMayBeClosedWithoutAWord() async throws {
    let log = RecordedLog()
    let channels = Mutex(0)
    let reply: @Sendable (String) -> String? = { packet in
      if packet.contains("LOAD") { channels.withLock { $0 += 1 } }
      return FakeRedis.handshakeReply(packet) ?? "*2\r\n:1\r\n:6000000000\r\n"
    }
    try await FakeRedis.with(reply) { redis in
      try await withLimiters(1, try RedisURL("redis://\(redis.url)"), log: log) { gateways in
        try await redis.closeConnections()
        try await eventually("the next connection") { channels.withLock { $0 == 2 } }
        try await eventually("Redis") { await gateways[0].isShared }
        #expect(try await gateways[0].take(key).isAllowed)
        #expect(log.lines.isEmpty)
      }
    }
  }

  @Test func aRedisThatSlamsTheDoorIsNotKnockedAtWithoutEnd() async throws {
    let start = ContinuousClock.now
    try await FakeRedis.with({ _ in nil }) { redis in
      try await withLimiters(1, try RedisURL("redis://\(redis.url)"), isReady: false) { gateways in
        try await eventually("another try") { redis.packets.count >= 2 }
        try await Task.sleep(for: .seconds(2))
        // The delays double up to five seconds, of which at least half is waited.
        #expect(redis.packets.count <= 6 + Int((ContinuousClock.now - start) / .milliseconds(2500)))
        #expect(try await gateways[0].take(key).isAllowed)
      }
    }
  }

  @Test(arguments: [
    ("redis://cache", "redis://cache:6379/0"), ("redis://cache:1/", "redis://cache:1/0"),
    ("redis://:secret@cache/15", "redis://cache:6379/15"),
    ("redis://me:sec:ret@10.0.0.1:7000", "redis://10.0.0.1:7000/0"),
    ("rediss://me:s%40%2F@[::1]:7000/2", "rediss://[::1]:7000/2"), ("redis://[fd00::1]", "redis://[fd00::1]:6379/0"),
  ])
  func aURLIsShownWithoutItsPassword(text: String, shown: String) throws {
    #expect("\(try RedisURL(text))" == shown)
  }

  @Test(arguments: [
    "cache", "cache:6379", "http://cache", "redis:cache", "redis://", "redis://:6379", "redis://secret@cache",
    "redis://me:@cache", "redis://me:s%zz@cache", "redis://me:secret@", "redis://cache:0", "redis://cache:65536",
    "redis://cache:+1", "redis://cache:secret", "redis://cache/secret", "redis://cache/-1", "redis://cache/01",
    "redis://cache/1/2", "redis://cache?db=1", "redis://cache#1", "redis://ca che", "redis://[::1", "redis://[cache]",
    "redis://[::1]secret", "redis://cäche", "REDIS://cache",
  ])
  func aBadURLStopsTheStartAndIsNotQuoted(text: String) throws {
    let failure = #expect(throws: StartFailure.self) { try RedisURL(Settings(["REDIS_URL": text])) }
    #expect(failure?.description.hasPrefix("REDIS_URL ") == true)
    #expect(failure?.description.contains("secret") == false)
  }

  @Test func withoutAURLThereIsNoRedis() throws {
    #expect(try RedisURL(Settings([:])) == nil)
    #expect(try RedisURL(Settings(["REDIS_URL": ""])) == nil)
  }
}
