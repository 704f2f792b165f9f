import Synchronization

/// Leaves out a provider that fails again and again, and a model whose quota is used up. Quotas are of models: without
/// pictures there may still be texts.
final class ProviderHealth: Sendable {
  private enum Key: Hashable {
    case provider(ProviderName)
    case model(String)
  }

  private struct State {
    var failuresInARow = 0
    var closedUntil: ContinuousClock.Instant?
  }

  private let states = Mutex<[Key: State]>([:])
  private let failuresMax: Int
  private let pause: Duration

  init(failuresMax: Int = 5, pause: Duration = .seconds(30)) {
    self.failuresMax = failuresMax
    self.pause = pause
  }

  /// How long the model is still left out; nil when it may be asked. After a pause one caller asks first, and the others
  /// wait for its result.
  func remainingPause(of model: Model) -> Duration? {
    let keys = [Key.provider(model.provider), .model(model.id)]
    return states.withLock { states in
      let now = ContinuousClock.now
      let ends = keys.compactMap { states[$0]?.closedUntil }
      if let last = ends.max(), last > now { return last - now }
      for key in keys where states[key]?.closedUntil != nil { states[key]?.closedUntil = now + pause }
      return nil
    }
  }

  func succeeded(_ model: Model) {
    states.withLock { states in
      states[.provider(model.provider)] = nil
      states[.model(model.id)] = nil
    }
  }

  func failed(_ model: Model, _ error: ProviderError) {
    guard error.countsAgainstProvider else { return succeeded(model) }
    let key = error.cause == .limited ? Key.model(model.id) : .provider(model.provider)
    states.withLock { states in
      var state = states[key] ?? State()
      state.failuresInARow += 1
      if let asked = error.retryAfter, asked > ModelCaller.delayMax {
        state.closedUntil = .now + asked
      } else if state.failuresInARow >= failuresMax || error.cause == .credentials || state.closedUntil != nil {
        state.closedUntil = .now + pause
      }
      states[key] = state
    }
  }

  /// Whether the last call was answered, if only with a refusal; true before the first.
  func isAnswering(_ provider: ProviderName) -> Bool { states.withLock { $0[.provider(provider)] == nil } }
}
