import Database
import DequeModule
import Foundation
import Synchronization

/// Runs jobs on lanes, first come first served. A lane that has done one takes the next itself, without anybody in between.
/// Who waits longer than `patience` is turned away, and so is everyone once more than `waitingMax` wait.
final class Pool: Sendable {
  /// Exactly one of the two is called, once.
  private struct Job: Sendable {
    let ticket: Int
    let until: ContinuousClock.Instant
    let run: @Sendable (Lane) -> Void
    let refuse: @Sendable (any Error) -> Void
  }

  private struct State {
    var idle: [Lane] = []
    var made = 0
    var waiting: Deque<Job> = []
    var isWatched = false
    var tickets = 0
    var isClosed = false
    /// Of those who were called off before they came to queue.
    var cancelled: Set<Int> = []
  }

  private enum Place {
    case on(Lane)
    case inQueue
    case nowhere(any Error)
  }

  private let state = Mutex(State())
  private let size: Int
  private let patience: Duration
  private let waitingMax = 1024
  private let make: @Sendable (Int) -> Lane

  init(size: Int, patience: Duration, make: @escaping @Sendable (Int) -> Lane) {
    self.size = size
    self.patience = patience
    self.make = make
  }

  /// - Throws: ``DatabaseFailure/unavailable`` when no lane came free in time, `CancellationError` when it was called off
  ///   before, and what `body` throws.
  func with<T: Sendable>(_ body: @escaping @Sendable (Lane) throws -> T) async throws -> T {
    try Task.checkCancellation()
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    defer { state.withLock { _ = $0.cancelled.remove(ticket) } }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        submit(
          Job(
            ticket: ticket, until: .now + patience,
            run: { lane in continuation.resume(with: Result { try body(lane) }) },
            refuse: { continuation.resume(throwing: $0) }))
      }
    } onCancel: {
      callOff(ticket)
    }
  }

  /// How many wait for a lane just now.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Waits for nobody: lanes that are out close when they come back.
  func close() {
    let (idle, waiting) = state.withLock { state in
      state.isClosed = true
      defer {
        state.idle = []
        state.waiting = []
      }
      return (state.idle, state.waiting)
    }
    for lane in idle { lane.close() }
    for job in waiting { job.refuse(DatabaseFailure.unavailable("closed")) }
  }

  private func submit(_ job: Job) {
    switch place(job) {
    case .on(let lane): lane.give { [self] lane in work(on: lane, first: job) }
    case .inQueue: watch()
    case .nowhere(let error): job.refuse(error)
    }
  }

  private func place(_ job: Job) -> Place {
    state.withLock { state in
      if state.isClosed { return .nowhere(DatabaseFailure.unavailable("closed")) }
      if state.cancelled.remove(job.ticket) != nil { return .nowhere(CancellationError()) }
      // The one that has been idle for the shortest time, so that the others can stay asleep.
      if let lane = state.idle.popLast() { return .on(lane) }
      if state.made < size {
        state.made += 1
        return .on(make(state.made))
      }
      guard state.waiting.count < waitingMax else {
        return .nowhere(DatabaseFailure.unavailable("more than \(waitingMax) wait for a connection"))
      }
      state.waiting.append(job)
      return .inQueue
    }
  }

  /// On the lane's thread, until nobody waits any more.
  private func work(on lane: Lane, first: Job) {
    var job: Job? = first
    while let current = job {
      current.run(lane)
      job = next(for: lane)
    }
  }

  /// nil, and the lane is idle or closed.
  private func next(for lane: Lane) -> Job? {
    state.withLock { state in
      if state.isClosed {
        lane.close()
        return nil
      }
      if let job = state.waiting.popFirst() { return job }
      state.idle.append(lane)
      return nil
    }
  }

  /// Turns away who has waited too long. All have the same patience, so the first in the queue is the first to lose it:
  /// one task that sleeps is enough, and there is none while nobody waits.
  private func watch() {
    let isFirst = state.withLock { state in
      defer { state.isWatched = true }
      return !state.isWatched
    }
    guard isFirst else { return }
    Task {
      while let until = nextLoss() { try await Task.sleep(until: until, clock: .continuous) }
    }
  }

  /// When the first in the queue loses patience; nil when nobody waits any more.
  private func nextLoss() -> ContinuousClock.Instant? {
    let (late, next) = state.withLock { state in
      var late: [Job] = []
      while let first = state.waiting.first, first.until <= .now { late.append(state.waiting.removeFirst()) }
      state.isWatched = !state.waiting.isEmpty
      return (late, state.waiting.first?.until)
    }
    for job in late { job.refuse(DatabaseFailure.unavailable("no connection came free in \(patience)")) }
    return next
  }

  private func callOff(_ ticket: Int) {
    let job = state.withLock { state -> Job? in
      guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
        // Not in the queue yet, or on a lane already, where it is waited for.
        state.cancelled.insert(ticket)
        return nil
      }
      return state.waiting.remove(at: index)
    }
    job?.refuse(CancellationError())
  }
}
