import Wire

/// How often something may be done within a time that begins with the first.
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

/// What may be spent on text messages, by the settings of the same names.
package struct TextQuotas: Sendable {
  package let perNumber: Quota
  package let perAddress: Quota
  package let perPrefix: Quota
  package let inAll: Quota
  /// To a number that is somebody's, which neither the prefix nor the sum of all others may shut out.
  package let perAccountNumber: Quota
  package let toAccounts: Quota
}

extension Failure {
  /// - Parameter seconds: when the first try of the window is forgotten.
  package static func limited(retryAfterSeconds seconds: Int) -> Failure {
    Failure(
      .limited, "rate_limited", "Too many requests. Please try again later.", retryAfterSeconds: max(1, seconds))
  }
}
