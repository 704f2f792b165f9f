import Database
import Prometheus
import Synchronization

/// A database that measures the waits for connections, the statements and the outcomes of transactions, and signals
/// each commit.
struct MeasuredDatabase: Database {
  private let inner: any Database
  private let waits: Histogram
  private let statements: Histogram
  private let transactions: Counter
  private let writes: ChangeSignal

  init(_ inner: any Database, in registry: MetricsRegistry, writes: ChangeSignal) {
    self.inner = inner
    self.writes = writes
    waits = registry.histogram(
      "kith_database_wait_seconds", "Time until a transaction had a connection.", labels: ["kind"])
    statements = registry.histogram(
      "kith_database_statement_seconds", "Time of single statements.", labels: ["kind"])
    transactions = registry.counter(
      "kith_database_transactions_total", "Transactions by outcome.", labels: ["kind", "outcome"])
  }

  var engine: Engine { inner.engine }

  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await counted("read") { try await inner.read(measured("read", body)) }
  }

  func readAllowingStale<T: Sendable>(
    _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    try await counted("read") { try await inner.readAllowingStale(measured("read", body)) }
  }

  func readOnce<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await counted("read") { try await inner.readOnce(measured("read", body)) }
  }

  func rows(of several: [SQL], whenConnected: @escaping @Sendable () -> Void) async throws -> [[Row]] {
    let requestedAt = ContinuousClock.now
    let connection = ConnectionTime()
    return try await counted("read") {
      defer { connection.begin.map { statements.observe(ContinuousClock.now - $0, "rows") } }
      return try await inner.rows(of: several) {
        let now = connection.start()
        waits.observe(now - requestedAt, "read")
        whenConnected()
      }
    }
  }

  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    // Also after an error: the outcome of a commit may be unknown.
    defer { writes.send() }
    return try await counted("write") { try await inner.write(isolation, measured("write", body)) }
  }

  private func measured<T>(
    _ kind: String, _ body: @escaping @Sendable (any Connection) throws -> T
  ) -> @Sendable (any Connection) throws -> T {
    let requestedAt = ContinuousClock.now
    return { connection in
      waits.observe(ContinuousClock.now - requestedAt, kind)
      return try body(MeasuredConnection(inner: connection, statements: statements))
    }
  }

  /// `failed` counts errors of the database; `refused` counts all other errors, such as failed validation.
  private func counted<T>(_ kind: String, _ work: () async throws -> T) async throws -> T {
    do {
      let result = try await work()
      transactions.add(kind, "done")
      return result
    } catch {
      transactions.add(kind, error is DatabaseFailure ? "failed" : "refused")
      throw error
    }
  }

  func migrate(_ migrations: [Migration]) async throws { try await inner.migrate(migrations) }

  func truncateWriteAheadLog() async throws { try await inner.truncateWriteAheadLog() }

  func close() async { await inner.close() }
}

/// When a call had a connection.
private final class ConnectionTime: Sendable {
  private let instant = Mutex<ContinuousClock.Instant?>(nil)

  var begin: ContinuousClock.Instant? { instant.withLock { $0 } }

  func start() -> ContinuousClock.Instant {
    let now = ContinuousClock.now
    instant.withLock { $0 = now }
    return now
  }
}

private struct MeasuredConnection: Connection {
  let inner: any Connection
  let statements: Histogram

  func rows(_ sql: SQL) throws -> [Row] {
    let started = ContinuousClock.now
    defer { statements.observe(ContinuousClock.now - started, "rows") }
    return try inner.rows(sql)
  }

  func change(_ sql: SQL) throws -> Int {
    let started = ContinuousClock.now
    defer { statements.observe(ContinuousClock.now - started, "change") }
    return try inner.change(sql)
  }

  func rows(of several: [SQL]) throws -> [[Row]] {
    let started = ContinuousClock.now
    defer { statements.observe(ContinuousClock.now - started, "rows") }
    return try inner.rows(of: several)
  }

  func enqueue(_ sql: SQL) throws { try inner.enqueue(sql) }
}
