import Wire

/// A rate limit: how often something may be done within a window that begins with the first time.
package struct Quota: Sendable {
  package let name: String
  package let limit: Int
  package let window: Duration

  package init(name: String, limit: Int, window: Duration) {
    self.name = name
    self.limit = limit
    self.window = window
  }
}

/// The rate limits of text messages (SMS), read from settings.
package struct SMSQuotas: Sendable {
  package let perNumber: Quota
  package let perAddress: Quota
  package let perPrefix: Quota
  package let total: Quota
  /// For a number that belongs to an account: it is not subject to `perPrefix` and `total`.
  package let perAccountNumber: Quota
  package let toAccounts: Quota
}

extension Failure {
  /// - Parameter seconds: until the window ends.
  package static func limited(retryAfterSeconds seconds: Int) -> Failure {
    Failure(
      .limited, "rate_limited", "Too many requests. Please try again later.", retryAfterSeconds: max(1, seconds))
  }
}
