import Database
import Foundation
import Web
import Wire

/// A database whose transactions that write can record events (``EventFeed/record(_:to:_:change:access:of:at:on:)``).
struct EventRecordingDatabase: Database {
  let inner: any Database
  /// Sent after each commit of a transaction that has recorded events.
  let recorded: ChangeSignal

  var engine: Engine { inner.engine }

  func read<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await inner.read(body)
  }

  func readAllowingStale<T: Sendable>(
    _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    try await inner.readAllowingStale(body)
  }

  func readOnce<T: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> T) async throws -> T {
    try await inner.readOnce(body)
  }

  func rows(of statements: [SQL], whenConnected: @escaping @Sendable () -> Void) async throws -> [[Row]] {
    try await inner.rows(of: statements, whenConnected: whenConnected)
  }

  func submit(
    _ statements: [SQL], whenConnected: @escaping @Sendable () -> Void,
    _ finish: @escaping @Sendable (Result<[[Row]], any Error>) -> Void
  ) -> Bool {
    inner.submit(statements, whenConnected: whenConnected, finish)
  }

  @discardableResult
  func write<T: Sendable>(
    _ isolation: Isolation, _ body: @escaping @Sendable (any Connection) throws -> T
  ) async throws -> T {
    do {
      let (result, hasEvents) = try await inner.write(isolation) { db in
        // A new one for each attempt: a transaction that is repeated records its events again.
        let recording = EventRecordingConnection(inner: db)
        let result = try body(recording)
        try recording.insertEvents()
        return (result, recording.hasEvents)
      }
      if hasEvents { recorded.send() }
      return result
    } catch DatabaseFailure.outcomeUnknown {
      // It may have been committed.
      recorded.send()
      throw DatabaseFailure.outcomeUnknown
    }
  }

  func migrate(_ migrations: [Migration]) async throws { try await inner.migrate(migrations) }
  func truncateWriteAheadLog() async throws { try await inner.truncateWriteAheadLog() }
  func close() async { await inner.close() }
}

/// A connection that keeps the events of its transaction and inserts them at its end.
///
/// Not `Sendable`: like every connection it is used within one body, on one thread.
final class EventRecordingConnection: Connection {
  private let inner: any Connection
  private var events: [(event: NewEvent, user: UserID?)] = []

  init(inner: any Connection) { self.inner = inner }

  var hasEvents: Bool { !events.isEmpty }

  func append(_ event: NewEvent, of user: UserID?) { events.append((event, user)) }

  /// Queued, so that on PostgreSQL they are sent with the commit.
  func insertEvents() throws {
    for (event, user) in events { try EventOutboxStore.insert(event, of: user, on: inner) }
  }

  func rows(_ sql: SQL) throws -> [Row] { try inner.rows(sql) }
  func change(_ sql: SQL) throws -> Int { try inner.change(sql) }
  func rows(of statements: [SQL]) throws -> [[Row]] { try inner.rows(of: statements) }
  func enqueue(_ sql: SQL) throws { try inner.enqueue(sql) }
}
