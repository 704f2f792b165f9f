import Database
import Support
import Synchronization

/// Lets the timepoints service die at random transactions: from then on none of its statements runs, until it is
/// revived, as if another process had taken over. Transactions of the credits service fail at random, one by one.
final class Crashes: Sendable {
  enum Part: Sendable { case timepoints, credits, other }

  private struct State {
    var random: SeededRandom
    var isDead = false
    var isEnabled = false
    var deathCount = 0
    var failureCount = 0
    var creditTransactionCount = 0
  }

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(random: SeededRandom(seed: seed))) }

  var isDead: Bool { state.withLock { $0.isDead } }
  /// How often the timepoints service has died, and how often a transaction of credits has failed.
  var counts: (deaths: Int, failures: Int) { state.withLock { ($0.deathCount, $0.failureCount) } }

  func begin() { state.withLock { $0.isEnabled = true } }

  func revive() { state.withLock { $0.isDead = false } }

  /// Nothing dies any more.
  func end() { state.withLock { ($0.isDead, $0.isEnabled) = (false, false) } }

  /// Whether the transaction fails now. One of the timepoints service dies with it.
  func fails(_ part: Part) -> Bool {
    state.withLock { state in
      guard state.isEnabled, !state.isDead else { return part == .timepoints && state.isDead }
      switch part {
      case .other: return false
      case .timepoints:
        guard Int.random(in: 0..<40, using: &state.random) == 0 else { return false }
        state.isDead = true
        state.deathCount += 1
      case .credits:
        state.creditTransactionCount += 1
        // One fails for certain, whatever comes by chance.
        let isCertain = state.failureCount == 0 && state.creditTransactionCount == 20
        guard Int.random(in: 0..<40, using: &state.random) == 0 || isCertain else { return false }
        state.failureCount += 1
      }
      return true
    }
  }
}

/// A database whose transactions may end with the death of the service, before or after their commit.
struct CrashingDatabase: Database {
  let inner: any Database
  let crashes: Crashes
  private let part = KnownPart()

  init(inner: any Database, crashes: Crashes) {
    self.inner = inner
    self.crashes = crashes
  }

  var engine: Engine { inner.engine }

  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await inner.read { [part] db in
      try requireLife()
      return try body(CheckedConnection(inner: db) { part.learn(from: $0) })
    }
  }

  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    let result = try await inner.write(isolation) { [part] db in
      try requireLife()
      let result = try body(CheckedConnection(inner: db) { part.learn(from: $0) })
      if crashes.fails(part.value) { throw DatabaseFailure.unavailable("died before the commit") }
      return result
    }
    if crashes.fails(part.value) { throw DatabaseFailure.outcomeUnknown }
    return result
  }

  private func requireLife() throws {
    if part.value == .timepoints, crashes.isDead { throw DatabaseFailure.unavailable("dead") }
  }

  func migrate(_ migrations: [Migration]) async throws { try await inner.migrate(migrations) }
  func truncateWriteAheadLog() async throws { try await inner.truncateWriteAheadLog() }
  func close() async { await inner.close() }

  /// Whose database it is, by the first statement on a table that only one service has.
  private final class KnownPart: Sendable {
    private let known = Mutex<Crashes.Part>(.other)

    var value: Crashes.Part { known.withLock { $0 } }

    func learn(from sql: SQL) {
      known.withLock { known in
        guard known == .other else { return }
        if sql.text.contains("generation_job") { known = .timepoints }
        if sql.text.contains("ledger_account") || sql.text.contains("credit_hold") { known = .credits }
      }
    }
  }
}

/// How often something still fails.
final class Failures: Sendable {
  private let left: Mutex<Int>

  init(count: Int) { left = Mutex(count) }

  var isOver: Bool { left.withLock { $0 == 0 } }

  func takeOne() -> Bool {
    left.withLock { left in
      guard left > 0 else { return false }
      left -= 1
      return true
    }
  }
}

/// A database in which it fails to write down that a timepoint is complete.
struct CompletionFailingDatabase: Database {
  let inner: any Database
  let failures: Failures

  var engine: Engine { inner.engine }

  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await inner.read(body)
  }

  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    try await inner.write(isolation) { [failures] db in
      try body(
        CheckedConnection(inner: db) { sql in
          guard sql.text.contains("status = 'completed', scene"), failures.takeOne() else { return }
          throw DatabaseFailure.unavailable("not written")
        })
    }
  }

  func migrate(_ migrations: [Migration]) async throws { try await inner.migrate(migrations) }
  func truncateWriteAheadLog() async throws { try await inner.truncateWriteAheadLog() }
  func close() async { await inner.close() }
}

/// Calls `check` before each statement. Not `Sendable`: like every connection it is used within one body, on one thread.
private struct CheckedConnection: Connection {
  let inner: any Connection
  let check: (SQL) throws -> Void

  func rows(_ sql: SQL) throws -> [Row] {
    try check(sql)
    return try inner.rows(sql)
  }

  func change(_ sql: SQL) throws -> Int {
    try check(sql)
    return try inner.change(sql)
  }

  func rows(of statements: [SQL]) throws -> [[Row]] {
    for statement in statements { try check(statement) }
    return try inner.rows(of: statements)
  }

  func enqueue(_ sql: SQL) throws {
    try check(sql)
    try inner.enqueue(sql)
  }
}
