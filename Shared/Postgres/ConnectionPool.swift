import Database
import DequeModule
import Foundation
import NIOPosix
import Synchronization

/// Runs jobs on a bounded number of connections, first come first served. A connection that has finished a job takes
/// the next one itself, without a thread hop, and reads that wait one after the other share its round trip. A job that
/// waits longer than `acquireTimeout` is rejected, as is every job once `waitingMax` jobs wait. Connections that nothing
/// has needed for `idleTimeMax` are closed, but one: each is a process of the server's.
final class ConnectionPool: Sendable {
  /// Exactly one of `work` and `reject` is called, once.
  struct Job: Sendable {
    let cancellation: Cancellation
    let deadline: ContinuousClock.Instant
    let work: Work
    let reject: @Sendable (any Error) -> Void

    var read: SharedRead? {
      if case .read(let read) = work { read } else { nil }
    }
  }

  enum Work: Sendable {
    /// Has the connection for itself.
    case body(@Sendable (PooledConnection) -> Void)
    case read(SharedRead)
  }

  /// Whether the task of a job has been cancelled. Written and read in the lock of the pool.
  final class Cancellation: Sendable {
    let isRequested = Atomic(false)
  }

  struct State {
    /// In the order in which they became idle, and since when they are.
    var idle: [(connection: PooledConnection, since: ContinuousClock.Instant)] = []
    var connectionCount = 0
    /// How many there have been, for their names.
    var madeCount = 0
    /// A connection was told to take jobs and has not done so yet.
    var isWaking = false
    var sharing: RoundTripSharing
    /// How many new connections are not open yet, and when the last of them was made.
    var opening = (count: 0, since: ContinuousClock.now)
    var waiting: Deque<Job> = []
    var hasTimeoutTask = false
    var hasRetirementTask = false
    var isClosed = false
  }

  let state: Mutex<State>
  private let size: Int
  let acquireTimeout: Duration
  private let idleTimeMax: Duration
  /// Bounds the memory of the waiting jobs.
  private let waitingMax = 1024
  /// How many reads share a round trip at most: so many may have to wait for one of them.
  private static let sharedReadsMax = 16
  private let openingTimeMax: Duration
  private let makeConnection: @Sendable (Int) -> PooledConnection

  /// - Parameter openingTimeMax: after this time another connection is opened beside one that is not open yet.
  init(
    size: Int, acquireTimeout: Duration, idleTimeMax: Duration, openingTimeMax: Duration = .milliseconds(100),
    sharing: RoundTripSharing = RoundTripSharing(), makeConnection: @escaping @Sendable (Int) -> PooledConnection
  ) {
    state = Mutex(State(sharing: sharing))
    self.size = size
    self.acquireTimeout = acquireTimeout
    self.idleTimeMax = idleTimeMax
    self.openingTimeMax = openingTimeMax
    self.makeConnection = makeConnection
  }

  /// - Throws: ``DatabaseFailure/unavailable`` when no connection became free in time, `CancellationError` when the
  ///   task was cancelled before, and what `body` throws.
  func withConnection<T: Sendable>(_ body: @escaping @Sendable (PooledConnection) throws -> T) async throws -> T {
    try await withJob { continuation in
      .body { connection in continuation.resume(with: Result { try body(connection) }) }
    }
  }

  func withJob<T: Sendable>(_ work: (CheckedContinuation<T, any Error>) -> Work) async throws -> T {
    try Task.checkCancellation()
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        submit(
          Job(
            cancellation: cancellation, deadline: .now + acquireTimeout, work: work(continuation),
            reject: { continuation.resume(throwing: $0) }))
      }
    } onCancel: {
      cancel(cancellation)
    }
  }

  /// How many jobs wait for a connection.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// How many connections wait for a job.
  var idleCount: Int { state.withLock { $0.idle.count } }

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
    for (connection, _) in idle { connection.close() }
    for job in waiting { job.reject(DatabaseFailure.unavailable("closed")) }
  }

  func submit(_ job: Job) {
    do {
      let waitingCount = try enqueue(job)
      // A round trip that is full waits for nothing.
      if waitingCount.isMultiple(of: Self.sharedReadsMax) { wakeConnection() } else { wakeConnectionAfterTurn() }
      startTimeoutTask()
    } catch { job.reject(error) }
  }

  /// On an event loop, wakes a connection once what is queued there by now has run: the jobs of the requests that arrived
  /// together share a wake-up, and reads a round trip. A thread that is woken at once takes the first job alone.
  private func wakeConnectionAfterTurn() {
    guard let loop = MultiThreadedEventLoopGroup.currentEventLoop else { return wakeConnection() }
    loop.execute { [self] in wakeConnection() }
  }

  /// - Returns: how many jobs wait now.
  private func enqueue(_ job: Job) throws -> Int {
    try state.withLock { state in
      if state.isClosed { throw DatabaseFailure.unavailable("closed") }
      if job.cancellation.isRequested.load(ordering: .relaxed) { throw CancellationError() }
      guard state.waiting.count < waitingMax else {
        throw DatabaseFailure.unavailable("more than \(waitingMax) wait for a connection")
      }
      state.waiting.append(job)
      return state.waiting.count
    }
  }

  /// Has an idle connection take the jobs that wait, if there are any. One wakes at a time, and wakes the next if it
  /// leaves jobs: what arrives together is taken by few threads, and by all of them when there is enough.
  func wakeConnection() {
    guard !holdsReads() else { return }
    let connection = state.withLock { state -> PooledConnection? in
      guard !state.isWaking, !state.waiting.isEmpty else { return nil }
      // The one that became idle last, so that the threads of the others can stay asleep.
      let connection = state.idle.popLast()?.connection
      state.isWaking = connection != nil
      return connection
    }
    guard let connection else { return openConnection() }
    connection.submit { [self] connection in
      state.withLock { $0.isWaking = false }
      runJobs(on: connection)
    }
  }

  /// Has a new connection take the jobs that wait, if there are any and no connection is idle. One opens at a time, as
  /// that takes longer than most jobs, which others finish meanwhile; unless it takes long because a host is away.
  private func openConnection() {
    let connection = state.withLock { state -> PooledConnection? in
      guard !state.isWaking, !state.waiting.isEmpty, state.connectionCount < size else { return nil }
      let now = ContinuousClock.now
      guard state.opening.count == 0 || now - state.opening.since > openingTimeMax else { return nil }
      state.opening = (state.opening.count + 1, now)
      state.connectionCount += 1
      state.madeCount += 1
      startRetirementTask(&state)
      return makeConnection(state.madeCount)
    }
    connection?.submit { [self] connection in
      // `try?`: the jobs fail with the reason.
      _ = try? connection.openHandle()
      state.withLock { $0.opening.count -= 1 }
      runJobs(on: connection)
    }
  }

  /// Runs waiting jobs on the connection's thread, until no job waits.
  private func runJobs(on connection: PooledConnection) {
    while true {
      let jobs = nextJobs(for: connection)
      guard let first = jobs.first else { return }
      wakeConnection()
      switch first.work {
      case .body(let run): run(connection)
      case .read:
        if !SharedRead.run(jobs.compactMap(\.read), on: connection) { repeatAlone(jobs) }
      }
    }
  }

  /// After a failure of the round trip that they shared, each waits for a connection for itself, as any of them may have
  /// been the reason: of those whose tasks have been cancelled meanwhile none runs, and several connections take the others.
  private func repeatAlone(_ jobs: [Job]) {
    for job in jobs {
      guard let read = job.read else { continue }
      submit(
        Job(
          cancellation: job.cancellation, deadline: .now + acquireTimeout, work: .body { read.runAlone(on: $0) },
          reject: job.reject))
    }
  }

  /// The first of the waiting jobs, with the reads that follow if it is a read. Returns nothing when no job waits; the
  /// connection is then idle, or closed with the pool.
  private func nextJobs(for connection: PooledConnection) -> [Job] {
    state.withLock { state in
      if state.isClosed {
        connection.close()
        return []
      }
      let now = ContinuousClock.now
      state.sharing.ended(on: connection, at: now)
      guard let first = state.waiting.popFirst() else {
        state.idle.append((connection, now))
        return []
      }
      if first.read != nil { state.sharing.began(on: connection, at: now) }
      var jobs = [first]
      while first.read != nil, jobs.count < Self.sharedReadsMax, state.waiting.first?.read != nil {
        jobs.append(state.waiting.removeFirst())
      }
      return jobs
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

  /// Starts the task that closes connections that nothing needs, unless it runs. It ends when one is left.
  private func startRetirementTask(_ state: inout State) {
    guard state.connectionCount > 1, !state.hasRetirementTask else { return }
    state.hasRetirementTask = true
    // Weak, so that it does not keep a pool that nothing uses any more until it wakes.
    Task { [weak self, idleTimeMax] in
      repeat { try await Task.sleep(for: idleTimeMax) } while self?.retireIdleConnections() ?? false
    }
  }

  /// Returns whether there is still more than one connection.
  private func retireIdleConnections() -> Bool {
    let (retired, isNeeded) = state.withLock { state in
      let latest = ContinuousClock.now - idleTimeMax
      var retired: [PooledConnection] = []
      while state.connectionCount > 1, let first = state.idle.first, first.since <= latest {
        retired.append(state.idle.removeFirst().connection)
        state.connectionCount -= 1
      }
      state.hasRetirementTask = !state.isClosed && state.connectionCount > 1
      return (retired, state.hasRetirementTask)
    }
    for connection in retired { connection.close() }
    return isNeeded
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
