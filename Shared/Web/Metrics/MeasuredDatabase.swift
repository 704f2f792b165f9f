import Database
import Prometheus
import Synchronization

/// A database that measures the waits for connections, the statements and the outcomes of transactions, and signals
/// each commit.
struct MeasuredDatabase: Database {
  private let inner: any Database
  private let reads: TransactionSeries
  private let changes: TransactionSeries
  private let statements: StatementSeries
  private let writes: ChangeSignal

  init(_ inner: any Database, in registry: MetricsRegistry, writes: ChangeSignal) {
    self.inner = inner
    self.writes = writes
    let waits = registry.histogram(
      "kith_database_wait_seconds", "Time until a transaction had a connection.", labels: ["kind"])
    statements = StatementSeries(
      registry.histogram("kith_database_statement_seconds", "Time of single statements.", labels: ["kind"]))
    let transactions = registry.counter(
      "kith_database_transactions_total", "Transactions by outcome.", labels: ["kind", "outcome"])
    reads = TransactionSeries("read", waits, transactions)
    changes = TransactionSeries("write", waits, transactions)
  }

  var engine: Engine { inner.engine }

  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await counted(reads) { try await inner.read(measured(reads, body)) }
  }

  func readAllowingStale<T: Sendable>(
    _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    try await counted(reads) { try await inner.readAllowingStale(measured(reads, body)) }
  }

  func readOnce<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await counted(reads) { try await inner.readOnce(measured(reads, body)) }
  }

  func rows(of several: [SQL], whenConnected: @escaping @Sendable () -> Void) async throws -> [[Row]] {
    let requestedAt = ContinuousClock.now
    let connection = ConnectionTime()
    return try await counted(reads) {
      defer { connection.begin.map { statements.rows.observe(ContinuousClock.now - $0) } }
      return try await inner.rows(of: several) {
        let now = connection.start()
        reads.wait.observe(now - requestedAt)
        whenConnected()
      }
    }
  }

  func submit(
    _ several: [SQL], whenConnected: @escaping @Sendable () -> Void,
    _ finish: @escaping @Sendable (Result<[[Row]], any Error>) -> Void
  ) -> Bool {
    let requestedAt = ContinuousClock.now
    let connection = ConnectionTime()
    return inner.submit(several) { [reads] in
      let now = connection.start()
      reads.wait.observe(now - requestedAt)
      whenConnected()
    } _: { [reads, statements] result in
      connection.begin.map { statements.rows.observe(ContinuousClock.now - $0) }
      switch result {
      case .success: reads.done.add()
      case .failure(let error): reads.count(error)
      }
      finish(result)
    }
  }

  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    // Also after an error: the outcome of a commit may be unknown.
    defer { writes.send() }
    return try await counted(changes) { try await inner.write(isolation, measured(changes, body)) }
  }

  private func measured<T>(
    _ series: TransactionSeries, _ body: @escaping @Sendable (any Connection) throws -> T
  ) -> @Sendable (any Connection) throws -> T {
    let requestedAt = ContinuousClock.now
    return { connection in
      series.wait.observe(ContinuousClock.now - requestedAt)
      return try body(MeasuredConnection(inner: connection, statements: statements))
    }
  }

  private func counted<T>(_ series: TransactionSeries, _ work: () async throws -> T) async throws -> T {
    do {
      let result = try await work()
      series.done.add()
      return result
    } catch {
      series.count(error)
      throw error
    }
  }

  func migrate(_ migrations: [Migration]) async throws { try await inner.migrate(migrations) }

  func truncateWriteAheadLog() async throws { try await inner.truncateWriteAheadLog() }

  func close() async { await inner.close() }
}

/// What is measured of the transactions of one kind.
private struct TransactionSeries: Sendable {
  let wait: Histogram.Series
  let done: Counter.Series
  let failed: Counter.Series
  let refused: Counter.Series

  init(_ kind: String, _ waits: Histogram, _ transactions: Counter) {
    wait = waits.series(kind)
    done = transactions.series(kind, "done")
    failed = transactions.series(kind, "failed")
    refused = transactions.series(kind, "refused")
  }

  /// `failed` counts errors of the database; `refused` counts all other errors, such as failed validation.
  func count(_ error: any Error) {
    if error is DatabaseFailure { failed.add() } else { refused.add() }
  }
}

private struct StatementSeries: Sendable {
  let rows: Histogram.Series
  let change: Histogram.Series

  init(_ statements: Histogram) {
    rows = statements.series("rows")
    change = statements.series("change")
  }
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
  let statements: StatementSeries

  func rows(_ sql: SQL) throws -> [Row] {
    let started = ContinuousClock.now
    defer { statements.rows.observe(ContinuousClock.now - started) }
    return try inner.rows(sql)
  }

  func change(_ sql: SQL) throws -> Int {
    let started = ContinuousClock.now
    defer { statements.change.observe(ContinuousClock.now - started) }
    return try inner.change(sql)
  }

  func rows(of several: [SQL]) throws -> [[Row]] {
    let started = ContinuousClock.now
    defer { statements.rows.observe(ContinuousClock.now - started) }
    return try inner.rows(of: several)
  }

  func enqueue(_ sql: SQL) throws { try inner.enqueue(sql) }
}
