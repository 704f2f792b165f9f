import NIOCore
import Synchronization

/// The port of a server, available once it listens.
///
/// Tasks are resumed when the lock is free again: resuming takes a lock of the task, and who cancels the task holds
/// that one while ``cancel(_:)`` takes the lock.
package final class ListeningPort: Sendable {
  private enum Phase {
    case starting(waiting: [Int: CheckedContinuation<Int, any Error>])
    case open(Int, any Channel)
    case ended
  }

  private static let notStarted = StartFailure("the server did not start")
  private let state = Mutex((phase: Phase.starting(waiting: [:]), lastID: 0))

  package init() {}

  /// Waits until the server listens.
  ///
  /// - Throws: ``StartFailure`` when the server ended before it listened, `CancellationError`.
  package var number: Int {
    get async throws {
      let id = state.withLock { state in
        state.lastID += 1
        return state.lastID
      }
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { wait($0, id) }
      } onCancel: {
        cancel(id)
      }
    }
  }

  private func wait(_ continuation: CheckedContinuation<Int, any Error>, _ id: Int) {
    let result = state.withLock { state -> Result<Int, any Error>? in
      switch state.phase {
      case _ where Task.isCancelled: return .failure(CancellationError())
      case .starting(var waiting):
        waiting[id] = continuation
        state.phase = .starting(waiting: waiting)
        return nil
      case .open(let port, _): return .success(port)
      case .ended: return .failure(Self.notStarted)
      }
    }
    if let result { continuation.resume(with: result) }
  }

  private func cancel(_ id: Int) {
    let cancelled = state.withLock { state -> CheckedContinuation<Int, any Error>? in
      guard case .starting(var waiting) = state.phase else { return nil }
      defer { state.phase = .starting(waiting: waiting) }
      return waiting.removeValue(forKey: id)
    }
    cancelled?.resume(throwing: CancellationError())
  }

  /// Ends the first phase, unless it has ended already.
  private func started(_ phase: Phase, _ result: Result<Int, any Error>) {
    let waiting = state.withLock { state -> [CheckedContinuation<Int, any Error>] in
      guard case .starting(let waiting) = state.phase else { return [] }
      state.phase = phase
      return Array(waiting.values)
    }
    for continuation in waiting { continuation.resume(with: result) }
  }

  /// Resumes all waiting tasks with `port`, on which `channel` listens.
  package func opened(on port: Int, _ channel: any Channel) {
    started(.open(port, channel), .success(port))
  }

  /// Prepares to close it: ``emptyAcceptQueue()``.
  package func emptyAcceptQueue() async {
    let channel: (any Channel)? = state.withLock { if case .open(_, let channel) = $0.phase { channel } else { nil } }
    await channel?.emptyAcceptQueue()
  }

  /// Marks the server as ended. Tasks that still wait throw.
  package func ended() {
    started(.ended, .failure(Self.notStarted))
    state.withLock { $0.phase = .ended }
  }
}
