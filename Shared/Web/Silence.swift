import Synchronization

/// Whether somebody who did not answer is asked again yet. Where there is something to go on with meanwhile, one asks and
/// the others do not wait for it.
package final class Silence: Sendable {
  private let until = Mutex<ContinuousClock.Instant?>(nil)
  private let pause: Duration
  /// How long whoever asks may take before another one tries.
  private let patience = Duration.seconds(10)

  package init(pause: Duration = .seconds(3)) { self.pause = pause }

  /// False for a while after there was no answer; then true for one who asks, and false for the others.
  package func mayAsk() -> Bool {
    until.withLock { until in
      guard let end = until else { return true }
      let now = ContinuousClock.now
      guard end <= now else { return false }
      until = now + patience
      return true
    }
  }

  package func answered() { until.withLock { $0 = nil } }

  package func didNotAnswer() { until.withLock { $0 = ContinuousClock.now + pause } }
}
