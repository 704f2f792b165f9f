import NIOCore
import Synchronization

/// The port of a server, available once it listens.
package final class ListeningPort: Sendable {
  private enum Phase {
    case starting(waiting: [Int: CheckedContinuation<Int, any Error>])
    case open(Int, any Channel)
    case ended
  }

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
    state.withLock { state in
      switch state.phase {
      case _ where Task.isCancelled: continuation.resume(throwing: CancellationError())
      case .starting(var waiting):
        waiting[id] = continuation
        state.phase = .starting(waiting: waiting)
      case .open(let port, _): continuation.resume(returning: port)
      case .ended: continuation.resume(throwing: StartFailure("the server did not start"))
      }
    }
  }

  private func cancel(_ id: Int) {
    state.withLock { state in
      guard case .starting(var waiting) = state.phase else { return }
      waiting.removeValue(forKey: id)?.resume(throwing: CancellationError())
      state.phase = .starting(waiting: waiting)
    }
  }

  /// Resumes all waiting tasks with `port`, on which `channel` listens.
  package func opened(on port: Int, _ channel: any Channel) {
    state.withLock { state in
      guard case .starting(let waiting) = state.phase else { return }
      for continuation in waiting.values { continuation.resume(returning: port) }
      state.phase = .open(port, channel)
    }
  }

  /// Prepares to close it: ``emptyAcceptQueue()``.
  package func emptyAcceptQueue() async {
    let channel: (any Channel)? = state.withLock { if case .open(_, let channel) = $0.phase { channel } else { nil } }
    await channel?.emptyAcceptQueue()
  }

  /// Marks the server as ended. Tasks that still wait throw.
  package func ended() {
    state.withLock { state in
      if case .starting(let waiting) = state.phase {
        for continuation in waiting.values { continuation.resume(throwing: StartFailure("the server did not start")) }
      }
      state.phase = .ended
    }
  }
}
