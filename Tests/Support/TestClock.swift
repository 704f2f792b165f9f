import Foundation
import Synchronization

/// A clock that runs like the system clock and that a test can move.
package final class TestClock: Sendable {
  private let offset = Mutex(0.0)

  package init() {}

  package var now: Date { Date() + offset.withLock { $0 } }

  package func advance(by duration: Duration) { offset.withLock { $0 += Double(duration.components.seconds) } }

  package func move(to time: Date) { offset.withLock { $0 = time.timeIntervalSinceNow } }
}
