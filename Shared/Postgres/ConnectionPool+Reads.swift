import Database

/// Reads of a few rows, which may share a round trip.
extension ConnectionPool {
  /// The rows of a read, which may share a round trip with others.
  ///
  /// - Throws: as ``withConnection(_:)`` does.
  func rows(
    of statements: [SQL], whenConnected: @escaping @Sendable () -> Void
  ) async throws -> [[Row]] {
    try await withJob { continuation in
      .read(SharedRead(statements, whenConnected: whenConnected) { continuation.resume(with: $0) })
    }
  }

  /// Begins ``rows(of:whenConnected:)`` and returns at once.
  ///
  /// - Parameter finish: called once, on another thread or, when the pool takes no more calls, before this returns.
  func submit(
    _ statements: [SQL], whenConnected: @escaping @Sendable () -> Void,
    _ finish: @escaping @Sendable (Result<[[Row]], any Error>) -> Void
  ) {
    submit(
      Job(
        cancellation: Cancellation(), deadline: .now + acquireTimeout,
        work: .read(SharedRead(statements, whenConnected: whenConnected, finish: finish)),
        reject: { finish(.failure($0)) }))
  }
}
