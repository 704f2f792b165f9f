import Foundation

/// When a request is sent again, and after how long.
public struct RetryPolicy: Sendable {
  /// Including the first.
  public var attemptsMax = 5
  /// Before the second attempt, up to twice as long.
  public var backoffMin: Duration = .seconds(1)
  /// However many attempts there were.
  public var backoffMax: Duration = .seconds(30)
  /// A longer wait that the server asks for is left to the app: the call throws with `retryAfterSeconds`.
  public var waitMax: Duration = .seconds(60)
  /// A fraction of the backoff that is drawn at random, so that clients that failed together do not come back together.
  var jitter: @Sendable () -> Double = { Double.random(in: 0.5...1) }
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  var now: @Sendable () -> Date = { Date() }

  /// Up to five attempts, with waits of 1 to 30 seconds between them.
  public init() {}

  enum Outcome {
    case noAnswer
    case answer(HTTPResponse)
  }

  /// - Parameters:
  ///   - attempt: 1 for the first.
  ///   - isRepeatable: whether the server does it once, however often it comes.
  /// - Returns: nil: this outcome is the result.
  func wait(after outcome: Outcome, attempt: Int, isRepeatable: Bool) -> Duration? {
    guard attempt < attemptsMax else { return nil }
    switch outcome {
    case .noAnswer: return isRepeatable ? backoff(attempt) : nil
    case .answer(let response):
      switch response.status {
      // The server refused before it did anything.
      case 429: return bounded(response.head.rateLimitWaitSeconds(now: now()), attempt)
      case 409 where Refusal(response).code == .known(.idempotencyKeyInUse):
        return bounded(response.head.retryAfterSeconds(now: now()), attempt)
      case 500: return isRepeatable && attempt == 1 ? backoff(attempt) : nil
      case 503: return isRepeatable ? bounded(response.head.retryAfterSeconds(now: now()), attempt) : nil
      case 408, 502, 504: return isRepeatable ? backoff(attempt) : nil
      default: return nil
      }
    }
  }

  /// Up to 2, 4, 8, 16 and 30 seconds, of which at least half: so from 1 second on.
  func backoff(_ attempt: Int) -> Duration {
    let doubled = backoffMin * (1 << min(attempt, 16))
    return min(doubled, backoffMax) * jitter()
  }

  private func bounded(_ seconds: Double?, _ attempt: Int) -> Duration? {
    guard let seconds else { return backoff(attempt) }
    // Clients that were limited together do not come back together.
    let wait = Duration.seconds(seconds) + backoffMin * (jitter() - 0.5)
    return wait <= waitMax ? wait : nil
  }
}

extension Duration {
  fileprivate static func * (duration: Duration, factor: Double) -> Duration {
    .seconds(duration.seconds * factor)
  }

  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

extension HTTPResponseHead {
  /// `Retry-After`, in seconds or as a date.
  func retryAfterSeconds(now: Date) -> Double? {
    guard let text = self["Retry-After"] else { return nil }
    if let seconds = Double(text) { return max(0, seconds) }
    return HTTPDate.date(text).map { max(0, $0.timeIntervalSince(now)) }
  }

  /// `Retry-After`, else when the limit begins anew: `t` of `RateLimit`, or `X-RateLimit-Reset`.
  func rateLimitWaitSeconds(now: Date) -> Double? {
    if let seconds = retryAfterSeconds(now: now) { return seconds }
    let parameters = self["RateLimit"]?.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) } ?? []
    if let seconds = parameters.first(where: { $0.hasPrefix("t=") }).flatMap({ Double($0.dropFirst(2)) }) {
      return max(0, seconds)
    }
    return self["X-RateLimit-Reset"].flatMap(Double.init).map { max(0, $0 - now.timeIntervalSince1970) }
  }
}

/// The date of RFC 9110 §5.6.7, in its one form that is still sent.
enum HTTPDate {
  static func date(_ text: String) -> Date? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.date(from: text)
  }
}
