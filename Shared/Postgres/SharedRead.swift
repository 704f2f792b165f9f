import Database

/// A read of a few rows. Reads that wait at the same time share a round trip: all of their statements are sent before the
/// first result is read, and see one snapshot, which is no older than the latest of them.
struct SharedRead: Sendable {
  private let statements: [SQL]
  private let whenConnected: @Sendable () -> Void
  private let finish: @Sendable (Result<[[Row]], any Error>) -> Void

  /// - Parameters:
  ///   - whenConnected: called before the statements are sent.
  ///   - finish: called once with the rows of each statement.
  init(
    _ statements: [SQL], whenConnected: @escaping @Sendable () -> Void,
    finish: @escaping @Sendable (Result<[[Row]], any Error>) -> Void
  ) {
    self.statements = statements
    self.whenConnected = whenConnected
    self.finish = finish
  }

  /// - Returns: false when the round trip of several has failed. None of them has finished then: each is to be repeated
  ///   alone, so that only those fail that fail alone.
  static func run(_ reads: [SharedRead], on connection: PooledConnection) -> Bool {
    for read in reads { read.whenConnected() }
    guard reads.count > 1 else {
      for read in reads { read.runAlone(on: connection) }
      return true
    }
    guard var rows = try? rows(of: reads.flatMap(\.statements), on: connection)[...] else { return false }
    for read in reads {
      read.finish(.success(Array(rows.prefix(read.statements.count))))
      rows = rows.dropFirst(read.statements.count)
    }
    return true
  }

  func runAlone(on connection: PooledConnection) {
    finish(Result { try Self.rows(of: statements, on: connection) })
  }

  private static func rows(of statements: [SQL], on connection: PooledConnection) throws -> [[Row]] {
    try ReadOnlyStatement(on: connection).rows(of: statements)
  }
}
