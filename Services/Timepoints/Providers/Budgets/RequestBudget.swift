import Synchronization

/// What one generation, or one answer of a character, may use. Its steps share it.
final class RequestBudget: Sendable {
  private struct State {
    var calls = 0
    var tokens = 0
  }

  private let state = Mutex(State())
  private let callsMax: Int
  private let tokensMax: Int

  init(callsMax: Int, tokensMax: Int) {
    self.callsMax = callsMax
    self.tokensMax = tokensMax
  }

  /// Takes one call.
  ///
  /// - Throws: ``PipelineFailure/budgetExhausted``.
  func takeCall() throws {
    try state.withLock { state in
      guard state.calls < callsMax, state.tokens < tokensMax else { throw PipelineFailure.budgetExhausted }
      state.calls += 1
    }
  }

  func add(tokens: Int) { state.withLock { $0.tokens += max(0, min(tokens, 10_000_000)) } }

  var used: (calls: Int, tokens: Int) { state.withLock { ($0.calls, $0.tokens) } }
}
