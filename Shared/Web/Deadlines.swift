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
    let task: RunningTask
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
    // A task of its own, so that nothing but the work is cancelled; a child, so that it runs where its parent does.
    return try await Deadline.$current.withValue(end) {
      async let result = swept(at: end, body)
      return try await result
    }
  }

  private func swept<T>(at end: ContinuousClock.Instant, _ body: () async throws -> T) async throws -> T {
    try await withUnsafeCurrentTask { task in
      guard let task else { return try await body() }
      let ticket = state.withLock { state in
        state.tickets += 1
        state.running[state.tickets] = Running(end: end, task: RunningTask(task: task))
        return state.tickets
      }
      do {
        let result = try await body()
        _ = isInTime(ticket)
        return result
      } catch {
        guard isInTime(ticket) else { throw DeadlinePassed() }
        throw error
      }
    }
  }

  /// From here on nobody cancels it.
  private func isInTime(_ ticket: UInt64) -> Bool { state.withLock { $0.running.removeValue(forKey: ticket) != nil } }

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
    // Under the lock, as a task must not end while it is being cancelled.
    state.withLock { state in
      for (ticket, request) in state.running where request.end <= now {
        request.task.cancel()
        state.running[ticket] = nil
      }
    }
  }
}

/// A task that can be cancelled from outside for as long as it is in ``Deadlines``.
///
/// `@unchecked Sendable`: cancelling is allowed from everywhere while the task runs, and the task takes this out of the
/// state, under the lock under which it is used, before it ends.
private struct RunningTask: @unchecked Sendable {
  let task: UnsafeCurrentTask

  func cancel() { task.cancel() }
}
