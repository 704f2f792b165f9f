import Foundation
import Gateway
import NIOCore
import NIOPosix
import Support
import Web

/// The Redis that `make test` has started.
let redisURL = ProcessInfo.processInfo.environment["KITH_TEST_REDIS"]

/// Runs one command and says what came of it.
func redis(_ url: String, _ command: String...) async throws -> String {
  let output = FileManager.default.temporaryDirectory.appendingPathComponent("kith-\(UUID().uuidString)").path
  defer { unlink(output) }
  let child = try Child(["redis-cli", "-u", url] + command, output: output)
  _ = await child.end()
  return child.printed().trimmingCharacters(in: .whitespacesAndNewlines)
}

/// A Redis that a test may stop, kill and start again.
struct RedisServer: Sendable {
  let child: Child
  let port: Int
  var url: String { "redis://127.0.0.1:\(port)" }

  /// Returns once it accepts connections.
  static func start(port: Int? = nil, _ arguments: [String] = []) async throws -> RedisServer {
    let port = try port ?? freePort()
    let child = try Child(
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

/// The limits of one gateway, with one event loop.
struct LoneGateway: Sendable {
  private let limiter: NIOLoopBound<Limiter>
  private let loop: any EventLoop

  init(
    _ redis: RedisURL?, quotas: Quotas, log: RecordedLog, patience: TimeAmount, outage: RedisOutage
  ) async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    self.loop = loop
    limiter = try await loop.submit {
      let limiter = Limiter(
        quotas: quotas, local: MemoryLimits(entriesMax: 1024), redis: redis, on: loop, logger: log.logger,
        now: { Int64(NIODeadline.now().uptimeNanoseconds) }, outage: outage, patience: patience)
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

  /// Nil when the verdict would come later.
  func takeNow(_ key: LimitKey) async throws -> LimitVerdict? {
    try await loop.submit { limiter.value.take(key) { _ in } }.get()
  }

  /// Asks for so many at once.
  ///
  /// - Returns: how many of the verdicts come later.
  func ask(_ count: Int) async throws -> Int {
    try await loop.submit {
      (0..<count).count { limiter.value.take(.user(UInt128($0), .user)) { _ in } == nil }
    }.get()
  }

  var isShared: Bool {
    // `try?`: nothing is shared by an event loop that is gone.
    get async { (try? await loop.submit { limiter.value.isShared }.get()) ?? false }
  }

  func stop() async throws { try await loop.submit { limiter.value.stop() }.get() }
}

/// Gateways that share a Redis; 10 a minute for each user, unless `settings` say otherwise.
///
/// - Parameters:
///   - isReady: whether to wait until all of them have found Redis.
///   - patience: long by default, so that a busy machine is not taken for an outage.
func withGateways(
  _ count: Int, _ redis: RedisURL, _ settings: [String: String] = [:], log: RecordedLog = RecordedLog(),
  isReady: Bool = true, patience: TimeAmount = .seconds(10), _ body: ([LoneGateway]) async throws -> Void
) async throws {
  let quotas = try Quotas(Settings(["RATE_LIMIT_USER": "10"].merging(settings) { $1 }))
  let outage = RedisOutage()
  var gateways: [LoneGateway] = []
  for _ in 0..<count {
    gateways.append(try await LoneGateway(redis, quotas: quotas, log: log, patience: patience, outage: outage))
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

/// How many of ten a minute have come back since then, on a machine that was so busy.
func backSince(_ start: ContinuousClock.Instant) -> Int { Int((ContinuousClock.now - start) / .seconds(6)) }
