import Database
import DequeModule
import Foundation
import Synchronization

/// Runs jobs on a bounded number of connections, first come first served. A connection that has finished a job takes
/// the next one itself, without a thread hop. A job that waits longer than `acquireTimeout` is rejected, as is every
/// job once `waitingMax` jobs wait.
final class ConnectionPool: Sendable {
  /// Exactly one of `run` and `reject` is called, once.
  private struct Job: Sendable {
    let cancellation: Cancellation
    let deadline: ContinuousClock.Instant
    let run: @Sendable (PooledConnection) -> Void
    let reject: @Sendable (any Error) -> Void
  }

  /// Whether the task of a job has been cancelled. Written and read in the lock of the pool.
  private final class Cancellation: Sendable {
    let isRequested = Atomic(false)
  }

  private struct State {
    var idle: [PooledConnection] = []
    var createdCount = 0
    var waiting: Deque<Job> = []
    var hasTimeoutTask = false
    var isClosed = false
  }

  private enum Assignment {
    case connection(PooledConnection)
    case queue
    case rejection(any Error)
  }

  private let state = Mutex(State())
  private let size: Int
  private let acquireTimeout: Duration
  /// Bounds the memory of the waiting jobs.
  private let waitingMax = 1024
  private let makeConnection: @Sendable (Int) -> PooledConnection

  init(size: Int, acquireTimeout: Duration, makeConnection: @escaping @Sendable (Int) -> PooledConnection) {
    self.size = size
    self.acquireTimeout = acquireTimeout
    self.makeConnection = makeConnection
  }

  /// - Throws: ``DatabaseFailure/unavailable`` when no connection became free in time, `CancellationError` when the
  ///   task was cancelled before, and what `body` throws.
  func withConnection<T: Sendable>(_ body: @escaping @Sendable (PooledConnection) throws -> T) async throws -> T {
    try Task.checkCancellation()
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        submit(
          Job(
            cancellation: cancellation, deadline: .now + acquireTimeout,
            run: { connection in continuation.resume(with: Result { try body(connection) }) },
            reject: { continuation.resume(throwing: $0) }))
      }
    } onCancel: {
      cancel(cancellation)
    }
  }

  /// How many jobs wait for a connection.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Rejects the waiting jobs and returns at once: connections in use are closed when their job has finished.
  func close() {
    let (idle, waiting) = state.withLock { state in
      state.isClosed = true
      defer {
        state.idle = []
        state.waiting = []
      }
      return (state.idle, state.waiting)
    }
    for connection in idle { connection.close() }
    for job in waiting { job.reject(DatabaseFailure.unavailable("closed")) }
  }

  private func submit(_ job: Job) {
    switch assign(job) {
    case .connection(let connection):
      connection.submit { [self] connection in runJobs(on: connection, first: job) }
    case .queue: startTimeoutTask()
    case .rejection(let error): job.reject(error)
    }
  }

  private func assign(_ job: Job) -> Assignment {
    state.withLock { state in
      if state.isClosed { return .rejection(DatabaseFailure.unavailable("closed")) }
      if job.cancellation.isRequested.load(ordering: .relaxed) { return .rejection(CancellationError()) }
      // The one that became idle last, so that the threads of the others can stay asleep.
      if let connection = state.idle.popLast() { return .connection(connection) }
      if state.createdCount < size {
        state.createdCount += 1
        return .connection(makeConnection(state.createdCount))
      }
      guard state.waiting.count < waitingMax else {
        return .rejection(DatabaseFailure.unavailable("more than \(waitingMax) wait for a connection"))
      }
      state.waiting.append(job)
      return .queue
    }
  }

  /// Runs `first` and then waiting jobs on the connection's thread, until no job waits.
  private func runJobs(on connection: PooledConnection, first: Job) {
    var job: Job? = first
    while let current = job {
      current.run(connection)
      job = nextJob(for: connection)
    }
  }

  /// The next waiting job. Returns nil when there is none; the connection is then idle, or closed with the pool.
  private func nextJob(for connection: PooledConnection) -> Job? {
    state.withLock { state in
      if state.isClosed {
        connection.close()
        return nil
      }
      if let job = state.waiting.popFirst() { return job }
      state.idle.append(connection)
      return nil
    }
  }

  /// Starts the task that rejects jobs whose deadline has passed, unless it runs. All jobs wait equally long, so the
  /// first in the queue has the earliest deadline and one task is enough. It ends when no job waits.
  private func startTimeoutTask() {
    let isFirst = state.withLock { state in
      defer { state.hasTimeoutTask = true }
      return !state.hasTimeoutTask
    }
    guard isFirst else { return }
    Task {
      while let deadline = rejectExpiredJobs() { try await Task.sleep(until: deadline, clock: .continuous) }
    }
  }

  /// Returns the deadline of the first job that still waits; nil when no job waits.
  private func rejectExpiredJobs() -> ContinuousClock.Instant? {
    let (expired, next) = state.withLock { state in
      var expired: [Job] = []
      while let first = state.waiting.first, first.deadline <= .now { expired.append(state.waiting.removeFirst()) }
      state.hasTimeoutTask = !state.waiting.isEmpty
      return (expired, state.waiting.first?.deadline)
    }
    for job in expired { job.reject(DatabaseFailure.unavailable("no connection came free in \(acquireTimeout)")) }
    return next
  }

  /// Rejects a job that waits or has not been enqueued yet. A running job is not interrupted.
  private func cancel(_ cancellation: Cancellation) {
    let job = state.withLock { state -> Job? in
      cancellation.isRequested.store(true, ordering: .relaxed)
      return state.waiting.firstIndex { $0.cancellation === cancellation }.map { state.waiting.remove(at: $0) }
    }
    job?.reject(CancellationError())
  }
}
