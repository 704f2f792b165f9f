import Database

/// One transaction on a pooled connection. It begins with its first statement, in the same round trip; a body that runs
/// no statement begins none.
final class Transaction: Connection {
  private let connection: PooledConnection
  private let begin: SQL
  /// Set by the first statement.
  private var handle: ConnectionHandle?
  /// The first statement failed before the transaction had begun, or a statement failed that was sent with queued ones.
  private var isBroken = false
  /// Sent with the next statement or the commit.
  private var queued: [SQL] = []

  init(on connection: PooledConnection, begin: SQL) {
    self.connection = connection
    self.begin = begin
  }

  func run<T>(_ body: (any Connection) throws -> T) throws -> T {
    do { return try body(self) } catch {
      rollBack()
      throw error
    }
  }

  func rows(_ sql: SQL) throws -> [Row] { try run([sql]).flatMap(\.rows) }
  func change(_ sql: SQL) throws -> Int { try run([sql]).first?.changedCount ?? 0 }
  func rows(of statements: [SQL]) throws -> [[Row]] { try run(statements).map(\.rows) }

  func enqueue(_ sql: SQL) throws {
    try requireNotBroken()
    queued.append(sql)
  }

  private func run(_ statements: [SQL]) throws -> [QueryResult] {
    try requireNotBroken()
    let queued = takeQueued()
    guard !(queued + statements).isEmpty else { return [] }
    do { return try send(queued + statements).suffix(statements.count) } catch {
      // Some of them may not even have been sent.
      if !queued.isEmpty { isBroken = true }
      throw error
    }
  }

  private func sendQueued() throws {
    do { _ = try run([]) } catch {
      rollBack()
      throw error
    }
  }

  private func takeQueued() -> [SQL] {
    defer { queued = [] }
    return queued
  }

  private func send(_ statements: [SQL]) throws -> [QueryResult] {
    if let handle { return try handle.run(statements) }
    do { return try sendFirst(statements) } catch {
      // Later statements of the body must not run outside of a transaction.
      isBroken = !(handle?.isInTransaction ?? false)
      throw error
    }
  }

  /// A connection that broke while it was idle fails at the first statement, when nothing can have been committed: a
  /// new connection is opened and the statements are sent once more.
  private func sendFirst(_ statements: [SQL]) throws -> [QueryResult] {
    let first = try openHandle()
    do { return try first.run(statements, after: begin) } catch DatabaseFailure.unavailable where !first.isInTransaction
    {
      connection.discardHandle()
      return try openHandle().run(statements, after: begin)
    }
  }

  private func openHandle() throws -> ConnectionHandle {
    let opened = try connection.openHandle()
    handle = opened
    return opened
  }

  /// - Throws: ``DatabaseFailure/outcomeUnknown`` when the connection breaks before the result of the commit arrives.
  func commit() throws {
    try requireNotBroken()
    if handle == nil { try sendQueued() }
    guard let handle else { return }
    do {
      try requireHealthy(handle)
      _ = handle.takeReplicationWarning()
      try handle.run(takeQueued(), before: "commit")
      // Committed here, but lost if the standby takes over.
      guard !handle.takeReplicationWarning() else { throw DatabaseFailure.outcomeUnknown }
    } catch let failure as DatabaseFailure {
      guard handle.isOpen else {
        connection.discardHandle()
        throw DatabaseFailure.outcomeUnknown
      }
      rollBack()
      throw failure
    }
  }

  /// Ends a transaction that has only read, without waiting for the result, which cannot matter.
  func endReading() throws {
    try requireNotBroken()
    try sendQueued()
    guard let handle else { return }
    do { try requireHealthy(handle) } catch {
      rollBack()
      throw error
    }
    handle.commitWithoutWaiting()
  }

  /// The server answers the commit of a failed transaction with ROLLBACK, not with an error: a body that swallowed the
  /// error must not return as if its changes were committed.
  private func requireHealthy(_ handle: ConnectionHandle) throws {
    guard handle.isTransactionHealthy else { throw Self.continuedAfterFailure }
  }

  private func requireNotBroken() throws {
    guard isBroken else { return }
    rollBack()
    throw Self.continuedAfterFailure
  }

  private static let continuedAfterFailure = DatabaseFailure.other("a statement failed and the body went on")

  private func rollBack() {
    guard let handle else { return }
    guard handle.isOpen else { return connection.discardHandle() }
    guard handle.isInTransaction else { return }
    do { try handle.script("rollback") } catch { connection.discardHandle() }
  }
}
