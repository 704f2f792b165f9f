import Database
import DequeModule
import Foundation
import Synchronization

/// Hands out lanes, first come first served. Who waits longer than `patience` is turned away, and so is everyone once
/// more than `waitingMax` wait.
final class Pool: Sendable {
  private struct Waiter {
    let ticket: Int
    let until: ContinuousClock.Instant
    let continuation: CheckedContinuation<Lane, any Error>
  }

  private struct State {
    var idle: [Lane] = []
    var made = 0
    var waiting: Deque<Waiter> = []
    var isWatched = false
    var tickets = 0
    var isClosed = false
    var cancelled: Set<Int> = []
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

  /// - Throws: ``DatabaseFailure/unavailable`` when no lane came free in time, `CancellationError`.
  func with<T: Sendable>(_ body: @escaping @Sendable (Lane) throws -> T) async throws -> T {
    let lane = try await take()
    defer { give(lane) }
    return try await lane.run(body)
  }

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
    for waiter in waiting { waiter.continuation.resume(throwing: DatabaseFailure.unavailable("closed")) }
  }

  private func take() async throws -> Lane {
    try Task.checkCancellation()
    if let lane = try free() { return lane }
    let ticket = state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
    defer { state.withLock { _ = $0.cancelled.remove(ticket) } }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { queue(ticket, $0) }
    } onCancel: {
      turnAway(ticket, CancellationError())
    }
  }

  private func free() throws -> Lane? {
    try state.withLock { state in
      guard !state.isClosed else { throw DatabaseFailure.unavailable("closed") }
      guard state.waiting.isEmpty else { return nil }
      if let lane = state.idle.popLast() { return lane }
      guard state.made < size else { return nil }
      state.made += 1
      return make(state.made)
    }
  }

  private func queue(_ ticket: Int, _ continuation: CheckedContinuation<Lane, any Error>) {
    let outcome: Result<Lane, any Error>? = state.withLock { state in
      if state.isClosed { return .failure(DatabaseFailure.unavailable("closed")) }
      if state.cancelled.remove(ticket) != nil { return .failure(CancellationError()) }
      if state.waiting.isEmpty, let lane = state.idle.popLast() { return .success(lane) }
      guard state.waiting.count < waitingMax else {
        return .failure(DatabaseFailure.unavailable("more than \(waitingMax) wait for a connection"))
      }
      state.waiting.append(Waiter(ticket: ticket, until: .now + patience, continuation: continuation))
      return nil
    }
    if let outcome { continuation.resume(with: outcome) } else { watch() }
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
      var late: [Waiter] = []
      while let first = state.waiting.first, first.until <= .now { late.append(state.waiting.removeFirst()) }
      state.isWatched = !state.waiting.isEmpty
      return (late, state.waiting.first?.until)
    }
    for waiter in late {
      waiter.continuation.resume(throwing: DatabaseFailure.unavailable("no connection came free in \(patience)"))
    }
    return next
  }

  private func turnAway(_ ticket: Int, _ error: any Error) {
    let waiter = state.withLock { state -> CheckedContinuation<Lane, any Error>? in
      guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
        // Cancelled before it queued.
        if error is CancellationError { state.cancelled.insert(ticket) }
        return nil
      }
      return state.waiting.remove(at: index).continuation
    }
    waiter?.resume(throwing: error)
  }

  private func give(_ lane: Lane) {
    let next = state.withLock { state -> CheckedContinuation<Lane, any Error>? in
      if state.isClosed {
        lane.close()
        return nil
      }
      if let waiter = state.waiting.popFirst() { return waiter.continuation }
      state.idle.append(lane)
      return nil
    }
    next?.resume(returning: lane)
  }
}
