import Synchronization

/// Leaves out a provider that fails again and again, or that has said how long it wants to be left alone.
final class ProviderHealth: Sendable {
  private struct State {
    var failuresInARow = 0
    var closedUntil: ContinuousClock.Instant?
    var isAnswering = true
  }

  private let states = Mutex<[ProviderName: State]>([:])
  private let failuresMax: Int
  private let pause: Duration

  init(failuresMax: Int = 5, pause: Duration = .seconds(30)) {
    self.failuresMax = failuresMax
    self.pause = pause
  }

  /// How long the provider is still left out; nil when it may be asked. After a pause one caller asks first, and the
  /// others wait for its result.
  func remainingPause(of provider: ProviderName) -> Duration? {
    states.withLock { states in
      guard let end = states[provider]?.closedUntil else { return nil }
      let now = ContinuousClock.now
      guard end <= now else { return end - now }
      states[provider]?.closedUntil = now + pause
      return nil
    }
  }

  func succeeded(_ provider: ProviderName) { states.withLock { $0[provider] = State() } }

  func failed(_ provider: ProviderName, _ error: ProviderError) {
    guard error.countsAgainstProvider else { return succeeded(provider) }
    states.withLock { states in
      var state = states[provider] ?? State()
      state.failuresInARow += 1
      state.isAnswering = error.cause == .limited ? state.isAnswering : false
      let asked = error.retryAfter.flatMap { $0 > ModelCaller.delayMax ? $0 : nil }
      if let asked {
        state.closedUntil = .now + asked
      } else if state.failuresInARow >= failuresMax || error.cause == .credentials || state.closedUntil != nil {
        state.closedUntil = .now + pause
      }
      states[provider] = state
    }
  }

  /// Whether the last call was answered; true before the first.
  func isAnswering(_ provider: ProviderName) -> Bool { states.withLock { $0[provider]?.isAnswering ?? true } }
}
