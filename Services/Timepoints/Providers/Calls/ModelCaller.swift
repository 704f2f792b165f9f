import Foundation
import Logging
import Prometheus
import Web

/// Asks one model after the other until one answers: repeats what may succeed soon, and passes over providers that are
/// left out.
struct ModelCaller: Sendable {
  /// A model whose provider wants a longer delay is left out for that time.
  static let delayMax = Duration.seconds(20)
  private static let attemptsMax = 3

  let providers: [ProviderName: any Provider]
  let health: ProviderHealth
  let timeout: Duration
  /// Of the first repetition; doubled for each further one.
  let backoff: Duration
  private let logger: Logger
  private let calls: Counter
  private let tokens: Counter

  init(
    _ providers: [ProviderName: any Provider], in dependencies: Dependencies, health: ProviderHealth = ProviderHealth(),
    backoff: Duration = .milliseconds(500)
  ) throws {
    self.providers = providers
    self.health = health
    self.backoff = backoff
    timeout = .seconds(try dependencies.settings.int("PROVIDER_TIMEOUT_SECONDS", default: 120, in: 1...3600))
    logger = dependencies.logger
    calls = dependencies.registry.counter(
      "kith_provider_calls_total", "Calls of providers of models, by outcome.", labels: ["provider", "outcome"])
    tokens = dependencies.registry.counter(
      "kith_provider_tokens_total", "Tokens that the providers have counted.", labels: ["provider"])
  }

  func text(_ request: TextRequest, models: [Model], budget: RequestBudget) async throws -> TextAnswer {
    try await call(models, budget) { provider, model in
      let answer = try await provider.text(request, model: model, timeout: timeout)
      return (answer, answer.tokens)
    }
  }

  /// The same in pieces. After the first piece nothing is repeated.
  func text(
    _ request: TextRequest, models: [Model], budget: RequestBudget,
    onPiece: @escaping @Sendable (String) async throws -> Void
  ) async throws -> TextAnswer {
    let hasBegun = Flag()
    return try await call(models, budget, isFinal: { hasBegun.isSet }) { provider, model in
      let answer = try await provider.text(request, model: model, timeout: timeout) { piece in
        hasBegun.set()
        try await onPiece(piece)
      }
      return (answer, answer.tokens)
    }
  }

  func image(_ request: ImageRequest, models: [Model], budget: RequestBudget) async throws -> ImageAnswer {
    try await call(models, budget) { provider, model in
      let answer = try await provider.image(request, model: model, timeout: timeout)
      return (answer, answer.tokens)
    }
  }

  /// - Throws: ``PipelineFailure``, `CancellationError`, and what a receiver of pieces throws.
  private func call<T>(
    _ models: [Model], _ budget: RequestBudget, isFinal: () -> Bool = { false },
    _ ask: (any Provider, Model) async throws -> (T, tokens: Int)
  ) async throws -> T {
    guard !providers.isEmpty else { throw PipelineFailure.unconfigured(variable: ProviderName.google.variable) }
    var last = (error: ProviderError(.modelMissing), provider: models.first?.provider)
    for model in models {
      guard let provider = providers[model.provider] else { continue }
      if let pause = health.remainingPause(of: model) {
        if last.error.cause == .modelMissing { last = (ProviderError(.limited, retryAfter: pause), model.provider) }
        continue
      }
      for attempt in 1...Self.attemptsMax {
        try budget.takeCall()
        do {
          let (answer, used) = try await ask(provider, model)
          succeeded(model, used, budget)
          return answer
        } catch let error as ProviderError {
          try Task.checkCancellation()
          failed(model, error)
          last = (error, model.provider)
          guard error.cause != .refused, !isFinal() else { throw error.failure(of: model.provider) }
          guard attempt < Self.attemptsMax, try await waited(attempt, error, model) else { break }
        }
      }
    }
    throw last.error.failure(of: last.provider)
  }

  /// Waits before another attempt; false when there is to be none.
  private func waited(_ attempt: Int, _ error: ProviderError, _ model: Model) async throws -> Bool {
    let doubled = backoff * (1 << (attempt - 1))
    let delay = error.retryAfter ?? doubled * Double.random(in: 0.5...1.5)
    guard error.isTransient, delay <= Self.delayMax else { return false }
    try await Task.sleep(for: delay)
    return true
  }

  private func succeeded(_ model: Model, _ used: Int, _ budget: RequestBudget) {
    budget.add(tokens: used)
    health.succeeded(model)
    calls.add(model.provider.rawValue, "success")
    tokens.add(model.provider.rawValue, by: max(0, used))
  }

  private func failed(_ model: Model, _ error: ProviderError) {
    health.failed(model, error)
    calls.add(model.provider.rawValue, "\(error.cause)")
    let metadata: Logger.Metadata = ["model": "\(model.id)", "error": "\(error)"]
    if error.cause == .credentials {
      logger.error("refused by a provider: check \(model.provider.variable)", metadata: metadata)
    } else {
      logger.warning("a provider did not answer", metadata: metadata)
    }
  }
}

extension ProviderError {
  fileprivate func failure(of provider: ProviderName?) -> PipelineFailure {
    switch cause {
    case .refused: .refused(PipelineFailure.refusal)
    case .limited, .unavailable: .overloaded(retryAfterSeconds: (retryAfter ?? .seconds(5)).wholeSeconds)
    case .timedOut: .timedOut
    case .credentials: .unconfigured(variable: provider?.variable ?? ProviderName.google.variable)
    case .unreachable, .modelMissing, .rejected, .unreadable: .provider(nil)
    }
  }
}

extension PipelineFailure {
  static let refusal = "This scene cannot be made. Please try another moment, or put it in other words."
}
