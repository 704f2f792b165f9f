import Foundation
import Synchronization

/// A clock that runs like the system clock and that a test can move, and stop.
package final class TestClock: Sendable {
  private struct State {
    var offset = 0.0
    var stoppedAt: Date?
  }

  private let state = Mutex(State())

  package init() {}

  package var now: Date { state.withLock { $0.stoppedAt ?? Date() + $0.offset } }

  package func advance(by duration: Duration) {
    let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    state.withLock { state in
      state.offset += seconds
      state.stoppedAt? += seconds
    }
  }

  package func move(to time: Date) {
    state.withLock { state in
      state.offset = time.timeIntervalSinceNow
      if state.stoppedAt != nil { state.stoppedAt = time }
    }
  }

  /// From the next second on only the test moves it: what is due in two seconds is not due while a busy machine takes
  /// its time. A whole second is the same when it is read from a database: what is due at it is due.
  package func stop() {
    state.withLock { state in
      let now = Date() + state.offset
      state.stoppedAt = Date(timeIntervalSinceReferenceDate: now.timeIntervalSinceReferenceDate.rounded(.up))
    }
  }

  /// Runs again, from where it was stopped.
  package func run() {
    state.withLock { state in
      guard let stoppedAt = state.stoppedAt else { return }
      state.offset = stoppedAt.timeIntervalSinceNow
      state.stoppedAt = nil
    }
  }
}
