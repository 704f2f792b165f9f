import Database
import Support
import Synchronization

/// Lets the timepoints service die at random transactions: from then on none of its statements runs, until it is
/// revived, as if another process had taken over.
final class Crashes: Sendable {
  private struct State {
    var random: SeededRandom
    var isDead = false
    var isEnabled = true
    var deathCount = 0
  }

  private let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(random: SeededRandom(seed: seed))) }

  var isDead: Bool { state.withLock { $0.isDead } }
  var deathCount: Int { state.withLock { $0.deathCount } }

  func revive() { state.withLock { $0.isDead = false } }

  /// Whether a statement is on a table of the timepoints service.
  ///
  /// - Throws: when it is, and the service is dead.
  func requireLife(for sql: SQL) throws -> Bool {
    guard ["timepoint", "generation_", " charge "].contains(where: sql.text.contains) else { return false }
    if isDead { throw DatabaseFailure.unavailable("dead") }
    return true
  }

  /// Nothing dies any more.
  func end() { state.withLock { ($0.isDead, $0.isEnabled) = (false, false) } }

  /// Whether the service dies now.
  func dies() -> Bool {
    state.withLock { state in
      guard state.isEnabled, !state.isDead, Int.random(in: 0..<40, using: &state.random) == 0 else { return false }
      state.isDead = true
      state.deathCount += 1
      return true
    }
  }
}

/// A database whose transactions may end with the death of the service, before or after their commit.
struct CrashingDatabase: Database {
  let inner: any Database
  let crashes: Crashes

  var engine: Engine { inner.engine }

  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await inner.read { [crashes] db in
      try body(CheckedConnection(inner: db) { _ = try crashes.requireLife(for: $0) })
    }
  }

  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    let (result, isOurs) = try await inner.write(isolation) { [crashes] db in
      var isOurs = false
      let result = try body(CheckedConnection(inner: db) { if try crashes.requireLife(for: $0) { isOurs = true } })
      if isOurs, crashes.dies() { throw DatabaseFailure.unavailable("died before the commit") }
      return (result, isOurs)
    }
    if isOurs, crashes.dies() { throw DatabaseFailure.outcomeUnknown }
    return result
  }

  func migrate(_ migrations: [Migration]) async throws { try await inner.migrate(migrations) }
  func truncateWriteAheadLog() async throws { try await inner.truncateWriteAheadLog() }
  func close() async { await inner.close() }
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
