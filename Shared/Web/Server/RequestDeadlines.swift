import Synchronization
import Wire

/// The operation did not end in time.
struct DeadlineExceeded: Error {}

/// Cancels requests that exceed their deadline.
///
/// One periodic sweep serves all requests: a sleeping task per request would stay in memory until its deadline, long
/// after the request has been answered. The sweep ends when no request runs and begins again with the next one.
final class RequestDeadlines: Sendable {
  private struct Running {
    let end: ContinuousClock.Instant
    let task: RunningTask
  }

  private struct State {
    var lastID: UInt64 = 0
    var running: [UInt64: Running] = [:]
    var isSweeping = false
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
      let id = add(Running(end: end, task: RunningTask(task: task)))
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

  private func add(_ request: Running) -> UInt64 {
    let (id, isSweeping) = state.withLock { state in
      defer { state.isSweeping = true }
      state.lastID += 1
      state.running[state.lastID] = request
      return (state.lastID, state.isSweeping)
    }
    if !isSweeping { startSweep() }
    return id
  }

  /// Removes the task, so that it is not cancelled from here on. False when its deadline has passed.
  private func isInTime(_ id: UInt64) -> Bool { state.withLock { $0.running.removeValue(forKey: id) != nil } }

  /// Whether the sweep runs, and with it a timer.
  var isSweeping: Bool { state.withLock(\.isSweeping) }

  private func startSweep() {
    // Detached, as it outlives the request that starts it, and has none of its task-local values.
    Task.detached { [self] in
      // `try?`: nothing cancels this task.
      repeat { try? await Task.sleep(for: interval) } while sweep(at: .now)
    }
  }

  /// Returns false, and leaves the sweep to the next request, when no request runs.
  private func sweep(at now: ContinuousClock.Instant) -> Bool {
    // Under the lock, as a task must not end while it is being cancelled.
    state.withLock { state in
      for (id, request) in state.running where request.end <= now {
        request.task.cancel()
        state.running[id] = nil
      }
      state.isSweeping = !state.running.isEmpty
      return state.isSweeping
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
