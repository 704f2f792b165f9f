import Foundation
import Gateway
import NIOCore
import NIOPosix
import Support
import Web

/// The Redis that `make test` has started.
let redisURL = ProcessInfo.processInfo.environment["KITH_TEST_REDIS"]

/// Runs one command and returns its output.
func redisCLI(_ url: String, _ command: String...) async throws -> String {
  let output = FileManager.default.temporaryDirectory.appendingPathComponent("kith-\(UUID().uuidString)").path
  defer { unlink(output) }
  let child = try ChildProcess(["redis-cli", "-u", url] + command, output: output)
  _ = await child.end()
  return child.printed().trimmingCharacters(in: .whitespacesAndNewlines)
}

/// A Redis that a test may stop, kill and start again.
struct RedisServer: Sendable {
  let child: ChildProcess
  let port: Int
  var url: String { "redis://127.0.0.1:\(port)" }

  /// Returns once it accepts connections.
  static func start(port: Int? = nil, _ arguments: [String] = []) async throws -> RedisServer {
    let port = try port ?? freePort()
    let child = try ChildProcess(
      ["redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"] + arguments)
    try await eventually("Redis") {
      do {
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
          .connect(host: "127.0.0.1", port: port).get().close()
        return true
      } catch { return false }
    }
    return RedisServer(child: child, port: port)
  }

  func kill() async {
    child.signal(SIGKILL)
    _ = await child.end()
  }

  func whileRunning(_ body: () async throws -> Void) async throws {
    do { try await body() } catch {
      await kill()
      throw error
    }
    await kill()
  }
}

/// The limiter of one gateway with one event loop.
struct TestLimiter: Sendable {
  private let limiter: NIOLoopBound<Limiter>
  private let loop: any EventLoop

  init(
    _ redis: RedisURL?, quotas: LimitQuotas, log: RecordedLog, timeout: TimeAmount, outageLog: RedisOutageLog
  ) async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    self.loop = loop
    limiter = try await loop.submit {
      let limiter = Limiter(
        quotas: quotas, local: MemoryLimits(entriesMax: 1024), redis: redis, on: loop, logger: log.logger,
        now: { Int64(NIODeadline.now().uptimeNanoseconds) }, outageLog: outageLog, timeout: timeout)
      return NIOLoopBound(limiter, eventLoop: loop)
    }.get()
  }

  func take(_ key: LimitKey) async throws -> LimitVerdict {
    let promise = loop.makePromise(of: LimitVerdict.self)
    loop.execute {
      var hasReturned = false
      let verdict = limiter.value.take(key) { later in
        if hasReturned { promise.succeed(later) } else { promise.fail(Unexpected(reply: "called too early")) }
      }
      hasReturned = true
      if let verdict { promise.succeed(verdict) }
    }
    return try await promise.futureResult.get()
  }

  /// nil when the verdict would be asynchronous.
  func takeNow(_ key: LimitKey) async throws -> LimitVerdict? {
    try await loop.submit { limiter.value.take(key) { _ in } }.get()
  }

  /// Takes for `count` keys at once.
  ///
  /// - Returns: how many of the verdicts are asynchronous.
  func ask(_ count: Int) async throws -> Int {
    try await loop.submit {
      (0..<count).count { limiter.value.take(.user(UInt128($0), .user)) { _ in } == nil }
    }.get()
  }

  var isShared: Bool {
    // `try?`: an event loop that has shut down shares nothing.
    get async { (try? await loop.submit { limiter.value.isShared }.get()) ?? false }
  }

  func stop() async throws { try await loop.submit { limiter.value.stop() }.get() }
}

/// Runs `body` with limiters that share a Redis; 10 a minute for each user, unless `settings` say otherwise.
///
/// - Parameters:
///   - isReady: whether to wait until all of them are connected.
///   - timeout: long by default, so that a busy machine does not look like an outage.
func withLimiters(
  _ count: Int, _ redis: RedisURL, _ settings: [String: String] = [:], log: RecordedLog = RecordedLog(),
  isReady: Bool = true, timeout: TimeAmount = .seconds(10), _ body: ([TestLimiter]) async throws -> Void
) async throws {
  let quotas = try LimitQuotas(Settings(["RATE_LIMIT_USER": "10"].merging(settings) { $1 }))
  let outageLog = RedisOutageLog()
  var gateways: [TestLimiter] = []
  for _ in 0..<count {
    gateways.append(try await TestLimiter(redis, quotas: quotas, log: log, timeout: timeout, outageLog: outageLog))
  }
  let result: Result<Void, any Error>
  do {
    if isReady {
      for gateway in gateways { try await eventually("Redis") { await gateway.isShared } }
    }
    result = .success(try await body(gateways))
  } catch {
    result = .failure(error)
  }
  for gateway in gateways { try await gateway.stop() }
  try result.get()
}

/// How many requests of ten a minute have been refilled since then.
func refilledSince(_ start: ContinuousClock.Instant) -> Int { Int((ContinuousClock.now - start) / .seconds(6)) }
