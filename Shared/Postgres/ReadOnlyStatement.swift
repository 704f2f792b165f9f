import Database

/// A read in a single round trip, of one statement or several. The server wraps it in an implicit transaction with the
/// session's default isolation and access mode: all statements see one snapshot, and none can write.
final class ReadOnlyStatement: Connection {
  private let connection: PooledConnection
  private var hasRun = false

  init(on connection: PooledConnection) { self.connection = connection }

  func rows(_ sql: SQL) throws -> [Row] { try run([sql]).flatMap(\.rows) }
  func change(_ sql: SQL) throws -> Int { throw DatabaseFailure.other("a read changes nothing") }
  func rows(of statements: [SQL]) throws -> [[Row]] { try run(statements).map(\.rows) }
  func enqueue(_ sql: SQL) throws { throw DatabaseFailure.other("a read changes nothing") }

  private func run(_ statements: [SQL]) throws -> [QueryResult] {
    guard !hasRun else { throw DatabaseFailure.other("a single read asked twice") }
    hasRun = true
    let first = try connection.openHandle()
    do { return try first.run(statements) } catch DatabaseFailure.unavailable where !first.isOpen {
      // The connection broke while it was idle or during the read: repeating a read is safe.
      connection.discardHandle()
      return try connection.openHandle().run(statements)
    }
  }
}
