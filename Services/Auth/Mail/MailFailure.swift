import Outbox

/// Why a mail was not sent. Contains neither recipient nor content.
struct MailFailure: RetryableFailure, Hashable {
  enum Reason: String, Sendable {
    /// No connection, or no reply in time.
    case unreachable
    /// The server's certificate is not trusted, or it does not offer TLS.
    case untrusted
    /// The server does not accept the message now (4xx).
    case delayed
    /// Too many messages are queued in this process.
    case busy
    /// The server rejects the user or the password.
    case credentials
    /// The server rejects the message permanently (5xx).
    case refused
    /// A name or the subject is not one line of text.
    case malformed
    /// No server is configured.
    case notConfigured
  }

  let reason: Reason
  /// The server's reply code (RFC 5321 §4.2).
  var code: Int?

  init(_ reason: Reason, code: Int? = nil) {
    self.reason = reason
    self.code = code
  }

  /// Whether a retry makes sense. An untrusted certificate is retryable as well: it may be renewed before the message
  /// is given up.
  var isRetryable: Bool {
    switch reason {
    case .unreachable, .untrusted, .delayed, .busy: true
    case .credentials, .refused, .malformed, .notConfigured: false
    }
  }

  /// SMTP has no reply with a delay.
  var retryAfter: Duration? { nil }

  var description: String { "mail not sent: \(reason.rawValue)" + (code.map { " (\($0))" } ?? "") }
}
