import ServiceLifecycle
import Synchronization
import Wire

/// The work did not end in time.
struct DeadlinePassed: Error {}

/// Cancels requests that take too long.
///
/// One sweep serves them all: a sleeping task for each request would stay in memory for the whole of its time, long after
/// the request has been answered.
final class Deadlines: Service {
  private struct Running {
    let end: ContinuousClock.Instant
    let cancel: @Sendable () -> Void
  }

  private struct State {
    var tickets: UInt64 = 0
    var running: [UInt64: Running] = [:]
  }

  private let state = Mutex(State())
  private let limit: Duration
  private let every: Duration

  init(limit: Duration, every: Duration = .milliseconds(250)) {
    self.limit = limit
    self.every = every
  }

  /// Runs `body`, and cancels it when its time is over.
  ///
  /// - Parameter wanted: how long the caller waits, if it says so; never more than the limit.
  /// - Throws: ``DeadlinePassed``, once `body` has noticed the cancellation.
  func within<T: Sendable>(
    _ wanted: Duration? = nil, _ body: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    let end = ContinuousClock.now + min(limit, wanted ?? limit)
    let task = Deadline.$current.withValue(end) { Task { try await body() } }
    let ticket = state.withLock { state in
      state.tickets += 1
      state.running[state.tickets] = Running(end: end, cancel: task.cancel)
      return state.tickets
    }
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    let inTime = state.withLock { $0.running.removeValue(forKey: ticket) != nil }
    if case .failure = result, !inTime { throw DeadlinePassed() }
    return try result.get()
  }

  func run() async throws {
    await cancelWhenGracefulShutdown { [self] in
      while !Task.isCancelled {
        // `try?`: cancelled means stop.
        try? await Task.sleep(for: every)
        sweep(at: .now)
      }
    }
  }

  private func sweep(at now: ContinuousClock.Instant) {
    let late = state.withLock { state in
      let late = state.running.filter { $0.value.end <= now }
      for ticket in late.keys { state.running[ticket] = nil }
      return late.values
    }
    for request in late { request.cancel() }
  }
}
