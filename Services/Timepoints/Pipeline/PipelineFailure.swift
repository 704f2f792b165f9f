import Wire

/// Why a generation or an answer of a character failed. Nothing in it is of a prompt, a key or a provider's text.
enum PipelineFailure: Error, Hashable, Sendable {
  /// No moment in time, or nothing that the provider wants to write about. The sentence is for the user.
  case refused(String)
  /// The provider failed or answered what cannot be read.
  case provider(PipelineStep?)
  /// The setting that is missing or wrong.
  case unconfigured(variable: String)
  case overloaded(retryAfterSeconds: Int)
  case timedOut
  /// Asking further would exceed what one request may use.
  case budgetExhausted

  var failure: Failure {
    switch self {
    case .refused(let sentence): Failure(.unprocessable, "query_refused", sentence)
    case .provider: Failure(.badGateway, "provider_failed", "The scene could not be made. Please try again.")
    case .unconfigured(let variable):
      Failure(.unavailable, "provider_unconfigured", "No scenes can be made here: \(variable) is not set.")
    case .overloaded(let seconds):
      Failure(
        .unavailable, "provider_overloaded", "Too many scenes are being made. Please try again later.",
        retryAfterSeconds: seconds)
    case .timedOut: Failure(.gatewayTimeout, "provider_timeout", "The scene took too long.", retryAfterSeconds: 1)
    case .budgetExhausted:
      Failure(.badGateway, "budget_exhausted", "The scene would have cost too much to make.")
    }
  }

  /// The same where characters of a scene were to answer.
  var ofAnswer: Failure {
    let message =
      switch self {
      case .refused: "This cannot be answered. Please put it in other words."
      case .provider: "The answer could not be made. Please try again."
      case .unconfigured: failure.message
      case .overloaded: "Too many answers are being made. Please try again later."
      case .timedOut: "The answer took too long."
      case .budgetExhausted: "The answer would have cost too much to make."
      }
    return Failure(failure.kind, failure.code, message, retryAfterSeconds: failure.retryAfterSeconds)
  }
}
