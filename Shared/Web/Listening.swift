import Synchronization

/// A port that becomes known once a server listens.
package final class Listening: Sendable {
  private enum State {
    case starting([CheckedContinuation<Int, any Error>])
    case open(Int)
    case ended
  }

  private let state = Mutex(State.starting([]))

  package init() {}

  /// - Throws: ``StartFailure`` when the server ended before it listened.
  package var number: Int {
    get async throws {
      try await withCheckedThrowingContinuation { continuation in
        state.withLock { state in
          switch state {
          case .starting(let waiting): state = .starting(waiting + [continuation])
          case .open(let port): continuation.resume(returning: port)
          case .ended: continuation.resume(throwing: StartFailure("the server did not start"))
          }
        }
      }
    }
  }

  package func opened(on port: Int) {
    state.withLock { state in
      guard case .starting(let waiting) = state else { return }
      for continuation in waiting { continuation.resume(returning: port) }
      state = .open(port)
    }
  }

  package func ended() {
    state.withLock { state in
      if case .starting(let waiting) = state {
        for continuation in waiting { continuation.resume(throwing: StartFailure("the server did not start")) }
      }
      state = .ended
    }
  }
}
