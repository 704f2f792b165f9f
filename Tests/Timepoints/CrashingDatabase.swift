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
    try await inner.read { [crashes] db in try body(CrashingConnection(inner: db, crashes: crashes)) }
  }

  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    let (result, isOurs) = try await inner.write(isolation) { [crashes] db in
      let connection = CrashingConnection(inner: db, crashes: crashes)
      let result = try body(connection)
      if connection.isOurs, crashes.dies() { throw DatabaseFailure.unavailable("died before the commit") }
      return (result, connection.isOurs)
    }
    if isOurs, crashes.dies() { throw DatabaseFailure.outcomeUnknown }
    return result
  }

  func migrate(_ migrations: [Migration]) async throws { try await inner.migrate(migrations) }
  func truncateWriteAheadLog() async throws { try await inner.truncateWriteAheadLog() }
  func close() async { await inner.close() }
}

/// Not `Sendable`: like every connection it is used within one body, on one thread.
private final class CrashingConnection: Connection {
  private let inner: any Connection
  private let crashes: Crashes
  /// Whether a statement was on a table of the timepoints service.
  private(set) var isOurs = false

  init(inner: any Connection, crashes: Crashes) {
    self.inner = inner
    self.crashes = crashes
  }

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

  private func check(_ sql: SQL) throws {
    let names = ["timepoint", "generation_", " charge "]
    guard names.contains(where: sql.text.contains) else { return }
    isOurs = true
    if crashes.isDead { throw DatabaseFailure.unavailable("dead") }
  }
}
