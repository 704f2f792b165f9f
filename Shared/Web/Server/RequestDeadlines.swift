import NIOCore
import NIOPosix
import Synchronization
import Wire

/// The operation did not end in time.
struct DeadlineExceeded: Error {}

/// Cancels the tasks of requests that exceed their deadline.
///
/// Sweeps serve all requests: a timer per request would cost more than most requests do. The first one looks soon
/// whether any request still runs, and the next ones when the earliest deadline has passed. They end when no request
/// runs and begin again with the next one.
final class RequestDeadlines: Sendable {
  private struct Running {
    let end: ContinuousClock.Instant
    let task: RunningTask
  }

  private struct State {
    var lastID: UInt64 = 0
    var running: [UInt64: Running] = [:]
    /// Nil while no request runs, or since a moment ago.
    var nextSweep: ContinuousClock.Instant?
  }

  private let state = Mutex(State())
  private let limit: Duration
  private let interval: Duration

  /// - Parameters:
  ///   - limit: the deadline of every request that does not ask for a shorter one.
  ///   - interval: the shortest time between two sweeps: so late may a request be cancelled.
  init(limit: Duration, interval: Duration = .milliseconds(250)) {
    self.limit = limit
    self.interval = interval
  }

  /// Runs `body`, and cancels the current task at its deadline. The task stays cancelled, whether this throws or returns.
  /// It is not a task of its own for each request, as that takes a twentieth of the time of a small one.
  ///
  /// - Parameter timeout: how long the caller waits, if it says so; never more than the limit.
  /// - Throws: ``DeadlineExceeded`` once `body` has ended after its cancellation.
  func withDeadline<T>(_ timeout: Duration? = nil, _ body: () async throws -> T) async throws -> T {
    let end = ContinuousClock.now + min(limit, timeout ?? limit)
    return try await Deadline.$current.withValue(end) {
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
  }

  private func add(_ request: Running) -> UInt64 {
    let soonest = ContinuousClock.now + interval
    let (id, sweep) = state.withLock { state in
      state.lastID += 1
      state.running[state.lastID] = request
      var sweep: ContinuousClock.Instant?
      if let next = state.nextSweep {
        if next > request.end + interval { sweep = max(request.end, soonest) }
      } else {
        sweep = soonest
      }
      if let sweep { state.nextSweep = sweep }
      return (state.lastID, sweep)
    }
    if let sweep { schedule(sweep) }
    return id
  }

  /// Removes the task, so that it is not cancelled from here on. False when its deadline has passed.
  private func isInTime(_ id: UInt64) -> Bool { state.withLock { $0.running.removeValue(forKey: id) != nil } }

  /// Whether a sweep is to come, and with it a timer.
  var isSweeping: Bool { sweepsIn != nil }
  var sweepsIn: Duration? { state.withLock(\.nextSweep).map { $0 - .now } }

  private func schedule(_ sweep: ContinuousClock.Instant) {
    // A timer of an event loop wakes one thread. A task that sleeps wakes two more.
    MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(sweep - .now)) { [self] in
      if let next = cancelExpired(in: sweep) { schedule(next) }
    }
  }

  /// - Returns: the next sweep; nil when no request runs, or when this one was replaced by an earlier one.
  private func cancelExpired(in sweep: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    let now = ContinuousClock.now
    // Under the lock, as a task must not end while it is being cancelled.
    return state.withLock { state in
      guard state.nextSweep == sweep else { return nil }
      for (id, request) in state.running where request.end <= now {
        request.task.cancel()
        state.running[id] = nil
      }
      state.nextSweep = state.running.values.map(\.end).min().map { max($0, now + interval) }
      return state.nextSweep
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
