import Database
import NIOCore
import NIOPosix

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

  /// Whether the jobs that wait are reads that share the next round trip of a connection which has one now.
  func holdsReads() -> Bool {
    let (holds, timeout) = state.withLock { state -> (Bool, Duration?) in
      guard !state.waiting.isEmpty, state.sharing.holds(state.waiting.count, at: .now),
        state.waiting.allSatisfy({ $0.read != nil })
      else { return (false, nil) }
      defer { state.sharing.hasTimer = true }
      return (true, state.sharing.hasTimer ? nil : state.sharing.waitMax)
    }
    if let timeout { wakeConnection(after: timeout) }
    return holds
  }

  private func wakeConnection(after time: Duration) {
    let loop = MultiThreadedEventLoopGroup.currentEventLoop ?? MultiThreadedEventLoopGroup.singleton.any()
    _ = loop.scheduleTask(in: TimeAmount(time)) { [self] in
      state.withLock { $0.sharing.hasTimer = false }
      wakeConnection()
    }
  }
}
