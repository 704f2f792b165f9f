import Outbox

/// Why an SMS was not sent. Contains neither number nor text.
package struct SMSFailure: RetryableFailure, Hashable {
  package enum Reason: String, Sendable {
    /// No connection, or no response in time.
    case unreachable
    /// An error of the provider's own.
    case broken
    /// The provider's rate limit is exceeded.
    case limited
    /// The number does not exist, or cannot receive SMS.
    case invalidNumber
    /// The recipient has opted out of messages from this sender.
    case optedOut
    /// The provider rejects the credentials.
    case credentials
    /// No provider is configured.
    case notConfigured
    /// The provider rejects the message for another reason: see ``code``.
    case refused
  }

  package let reason: Reason
  /// The provider's own number for the reason.
  package var code: Int?
  /// The delay that the provider asks for before a retry.
  package var retryAfter: Duration?

  package init(_ reason: Reason, code: Int? = nil, retryAfter: Duration? = nil) {
    self.reason = reason
    self.code = code
    self.retryAfter = retryAfter
  }

  /// Whether a retry makes sense.
  package var isRetryable: Bool {
    switch reason {
    case .unreachable, .broken, .limited: true
    case .invalidNumber, .optedOut, .credentials, .notConfigured, .refused: false
    }
  }

  /// Whether the message may have been sent although the attempt failed: there was no response, or one of a proxy in
  /// front of the provider.
  package var isOutcomeUnknown: Bool { reason == .unreachable || (reason == .broken && code == nil) }

  package var description: String { "message not sent: \(reason.rawValue)" + (code.map { " (\($0))" } ?? "") }
}
