/// Why a provider did not answer. Without the provider's words, which may repeat the question.
struct ProviderError: Error, Hashable, Sendable {
  enum Cause: Hashable, Sendable {
    /// It does not want to write or paint this.
    case refused
    /// Too many calls.
    case limited
    /// It is overloaded or broken.
    case unavailable
    case timedOut
    case unreachable
    /// It does not have the model, or no longer.
    case modelMissing
    /// The key is wrong, has no rights, or its account no money.
    case credentials
    /// The request is wrong in its eyes.
    case rejected
    /// What it sent cannot be read, or ended too early.
    case unreadable
  }

  let cause: Cause
  var status: Int?
  /// The provider's own delay.
  var retryAfter: Duration?

  init(_ cause: Cause, status: Int? = nil, retryAfter: Duration? = nil) {
    self.cause = cause
    self.status = status
    self.retryAfter = retryAfter
  }

  /// Whether the same question may succeed soon.
  var isTransient: Bool {
    switch cause {
    case .limited, .unavailable, .unreachable, .unreadable: true
    case .refused, .timedOut, .modelMissing, .credentials, .rejected: false
    }
  }

  /// Whether the provider as a whole seems to be in trouble.
  var countsAgainstProvider: Bool {
    switch cause {
    case .limited, .unavailable, .unreachable, .timedOut, .credentials: true
    case .refused, .modelMissing, .rejected, .unreadable: false
    }
  }
}

extension ProviderError: CustomStringConvertible {
  var description: String { status.map { "\(cause) (\($0))" } ?? "\(cause)" }
}

extension Duration {
  /// A delay as a provider sends it in seconds; nil for what is none or is longer than a day.
  static func delay(_ seconds: String?) -> Duration? {
    guard let seconds, let value = Double(seconds), (0...86_400).contains(value) else { return nil }
    return .seconds(value)
  }

  /// Rounded up, at least 1.
  var wholeSeconds: Int {
    let (seconds, attoseconds) = components
    return max(1, Int(clamping: seconds) + (attoseconds > 0 ? 1 : 0))
  }
}
