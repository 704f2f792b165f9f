import Synchronization

/// A port that becomes known once a server listens.
package final class Listening: Sendable {
  private enum State {
    case starting([Int: CheckedContinuation<Int, any Error>])
    case open(Int)
    case ended
  }

  private let state = Mutex((now: State.starting([:]), tickets: 0))

  package init() {}

  /// - Throws: ``StartFailure`` when the server ended before it listened, `CancellationError`.
  package var number: Int {
    get async throws {
      let ticket = state.withLock { state in
        state.tickets += 1
        return state.tickets
      }
      return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { wait($0, ticket) }
      } onCancel: {
        giveUp(ticket)
      }
    }
  }

  private func wait(_ continuation: CheckedContinuation<Int, any Error>, _ ticket: Int) {
    state.withLock { state in
      switch state.now {
      case _ where Task.isCancelled: continuation.resume(throwing: CancellationError())
      case .starting(var waiting):
        waiting[ticket] = continuation
        state.now = .starting(waiting)
      case .open(let port): continuation.resume(returning: port)
      case .ended: continuation.resume(throwing: StartFailure("the server did not start"))
      }
    }
  }

  private func giveUp(_ ticket: Int) {
    state.withLock { state in
      guard case .starting(var waiting) = state.now else { return }
      waiting.removeValue(forKey: ticket)?.resume(throwing: CancellationError())
      state.now = .starting(waiting)
    }
  }

  package func opened(on port: Int) {
    state.withLock { state in
      guard case .starting(let waiting) = state.now else { return }
      for continuation in waiting.values { continuation.resume(returning: port) }
      state.now = .open(port)
    }
  }

  package func ended() {
    state.withLock { state in
      if case .starting(let waiting) = state.now {
        for continuation in waiting.values { continuation.resume(throwing: StartFailure("the server did not start")) }
      }
      state.now = .ended
    }
  }
}
