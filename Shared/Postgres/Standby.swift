import Database
import Synchronization

/// Reads on a standby, which are at most some seconds old: the standby must have replayed what the primary had written
/// when it was last asked, a moment ago. Whenever that is not certain, the primary reads.
final class Standby: Sendable {
  /// How far the primary's log had been written, and when.
  private struct Position {
    let text: String
    let readAt: ContinuousClock.Instant
  }

  private struct State {
    var position: Position?
    var isAskingPrimary = false
    var failedAt: ContinuousClock.Instant?
  }

  private let state = Mutex(State())
  private let pool: ConnectionPool
  private let primary: ConnectionPool
  /// The primary is asked again after the first of these; after the second what it said is too old.
  private static let positionAge = (asked: Duration.seconds(1), used: Duration.seconds(2))
  /// How long a standby that failed or is behind is left alone, so that not every read waits for it.
  private static let pause = Duration.seconds(3)

  init(_ pool: ConnectionPool, primary: ConnectionPool) { (self.pool, self.primary) = (pool, primary) }

  /// The result of a read on the standby; nil when the primary has to read.
  ///
  /// - Throws: what `body` throws, but for ``DatabaseFailure/unavailable(_:)`` and ``DatabaseFailure/contended``.
  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T? {
    guard let position = usablePosition() else { return nil }
    do {
      return try await pool.withConnection { connection in
        let transaction = Transaction(on: connection, begin: "begin isolation level repeatable read read only")
        let result = try transaction.run { db in
          guard try Self.has(position, db) else { throw IsBehind() }
          return try body(db)
        }
        try transaction.endReading()
        return result
      }
    } catch DatabaseFailure.contended {
      // What the standby has to replay conflicts with the read (40001, `max_standby_streaming_delay`).
      return nil
    } catch DatabaseFailure.unavailable {
      leaveAlone()
      return nil
    } catch is IsBehind {
      leaveAlone()
      return nil
    }
  }

  func close() { pool.close() }

  private struct IsBehind: Error {}

  /// A server that has become the primary has everything.
  private static func has(_ position: String, _ db: any Connection) throws -> Bool {
    let row = try db.row(
      "select not pg_is_in_recovery() or pg_last_wal_replay_lsn() >= cast(\(position) as pg_lsn) as has_replayed")
    return try row?.get("has_replayed") ?? false
  }

  private func usablePosition() -> String? {
    let now = ContinuousClock.now
    let (position, asks) = state.withLock { state -> (Position?, Bool) in
      if let failedAt = state.failedAt, now - failedAt < Self.pause { return (nil, false) }
      let age = state.position.map { now - $0.readAt }
      let asks = !state.isAskingPrimary && (age.map { $0 >= Self.positionAge.asked } ?? true)
      if asks { state.isAskingPrimary = true }
      return (age.map { $0 < Self.positionAge.used } ?? false ? state.position : nil, asks)
    }
    if asks { Task.detached { [self] in await askPrimary() } }
    return position?.text
  }

  private func askPrimary() async {
    let askedAt = ContinuousClock.now
    // `try?`: while the primary does not answer, nothing is known of it, and it is asked again.
    let rows = try? await primary.rows(of: ["select cast(pg_current_wal_lsn() as text) as position"], whenConnected: {})
    let text = try? rows?.first?.first?.get("position", as: String.self)
    state.withLock { state in
      state.isAskingPrimary = false
      if let text { state.position = Position(text: text, readAt: askedAt) }
    }
  }

  private func leaveAlone() { state.withLock { $0.failedAt = .now } }
}
