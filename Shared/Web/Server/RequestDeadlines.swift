import ServiceLifecycle
import Synchronization
import Wire

/// The operation did not end in time.
struct DeadlineExceeded: Error {}

/// Cancels requests that exceed their deadline.
///
/// One periodic sweep serves all requests: a sleeping task per request would stay in memory until its deadline, long
/// after the request has been answered.
final class RequestDeadlines: Service {
  private struct Running {
    let end: ContinuousClock.Instant
    let task: RunningTask
  }

  private struct State {
    var lastID: UInt64 = 0
    var running: [UInt64: Running] = [:]
  }

  private let state = Mutex(State())
  private let limit: Duration
  private let interval: Duration

  /// - Parameters:
  ///   - limit: the deadline of every request that does not ask for a shorter one.
  ///   - interval: the time between two sweeps.
  init(limit: Duration, interval: Duration = .milliseconds(250)) {
    self.limit = limit
    self.interval = interval
  }

  /// Runs `body` and cancels it at its deadline.
  ///
  /// - Parameter timeout: how long the caller waits, if it says so; never more than the limit.
  /// - Throws: ``DeadlineExceeded`` once `body` has ended after its cancellation.
  func withDeadline<T: Sendable>(
    _ timeout: Duration? = nil, _ body: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    let end = ContinuousClock.now + min(limit, timeout ?? limit)
    // A task of its own, so that nothing but `body` is cancelled; a child, so that it runs on its parent's executor.
    return try await Deadline.$current.withValue(end) {
      async let result = cancelled(at: end, body)
      return try await result
    }
  }

  private func cancelled<T>(at end: ContinuousClock.Instant, _ body: () async throws -> T) async throws -> T {
    try await withUnsafeCurrentTask { task in
      guard let task else { return try await body() }
      let id = state.withLock { state in
        state.lastID += 1
        state.running[state.lastID] = Running(end: end, task: RunningTask(task: task))
        return state.lastID
      }
      do {
        let result = try await body()
        _ = isInTime(id)
        return result
      } catch {
        guard isInTime(id) else { throw DeadlineExceeded() }
        throw error
      }
    }
  }

  /// Removes the task, so that it is not cancelled from here on. False when its deadline has passed.
  private func isInTime(_ id: UInt64) -> Bool { state.withLock { $0.running.removeValue(forKey: id) != nil } }

  func run() async throws {
    await cancelWhenGracefulShutdown { [self] in
      // Not `repeatUntilCancelled`, as the sleep comes first: the requests are swept once more at shutdown.
      while !Task.isCancelled {
        // `try?`: a cancelled sleep ends the loop.
        try? await Task.sleep(for: interval)
        sweep(at: .now)
      }
    }
  }

  private func sweep(at now: ContinuousClock.Instant) {
    // Under the lock, as a task must not end while it is being cancelled.
    state.withLock { state in
      for (id, request) in state.running where request.end <= now {
        request.task.cancel()
        state.running[id] = nil
      }
    }
  }
}

/// A task that can be cancelled from another task while it is in ``RequestDeadlines``.
///
/// `@unchecked Sendable`: any thread may cancel a task while it runs, and the task removes this value from the state
/// before it ends, under the lock that guards every use.
private struct RunningTask: @unchecked Sendable {
  let task: UnsafeCurrentTask

  func cancel() { task.cancel() }
}
