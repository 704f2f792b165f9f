import Wire

/// Why a call to Stripe's API failed.
struct StripeError: Error, Hashable, CustomStringConvertible {
  enum Cause: Sendable, Hashable {
    case timeout
    case unreachable
    /// A success whose body could not be read.
    case unreadable
    /// An error response with its status.
    case refused(Int)
  }

  let cause: Cause
  /// Stripe's code, such as `resource_missing`.
  var code: String?
  /// The parameter that the error is about.
  var parameter: String?

  init(_ cause: Cause, code: String? = nil, parameter: String? = nil) {
    self.cause = cause
    // The error is logged: only what looks like a code or the name of a parameter is kept.
    self.code = code.flatMap { Self.isName($0) ? $0 : nil }
    self.parameter = parameter.flatMap { Self.isName($0) ? $0 : nil }
  }

  /// Whether an object that the request names does not exist.
  func isMissing(_ parameter: String? = nil) -> Bool {
    let isNotFound = cause == .refused(404) || code == "resource_missing"
    return isNotFound && (parameter == nil || parameter == self.parameter)
  }

  /// Whether Stripe does not accept our key.
  var isKeyError: Bool { cause == .refused(401) || cause == .refused(403) }

  /// What an app is answered. It says nothing of our account.
  var failure: Failure {
    switch cause {
    case .timeout:
      Failure(.gatewayTimeout, "stripe_timeout", "Stripe did not answer in time.", retryAfterSeconds: 2)
    case .unreachable, .refused(429):
      Failure(.unavailable, "stripe_unavailable", "Stripe cannot be reached at the moment.", retryAfterSeconds: 2)
    case .refused(401), .refused(403):
      Failure(
        .unavailable, "stripe_unavailable", "Purchases through Stripe are not available.", retryAfterSeconds: 60)
    case .refused, .unreadable: Failure(.badGateway, "stripe_failed", "Stripe did not accept the request.")
    }
  }

  var description: String {
    let cause =
      switch cause {
      case .timeout: "no answer in time"
      case .unreachable: "no connection"
      case .unreadable: "an answer in another format"
      case .refused(let status): "status \(status)"
      }
    return "Stripe: " + [cause, code, parameter].compactMap(\.self).joined(separator: ", ")
  }

  private static func isName(_ text: String) -> Bool {
    text.utf8.count <= 80 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_[]".contains($0)) }
  }
}
