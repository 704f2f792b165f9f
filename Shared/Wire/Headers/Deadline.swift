/// The deadline of the current request. It is set for each request and sent with every call to another service, so that
/// no service works for a caller that no longer waits.
package enum Deadline {
  @TaskLocal package static var current: ContinuousClock.Instant?

  /// `limit`, or the time until the current deadline if that is less.
  package static func remaining(of limit: Duration) -> Duration {
    guard let current else { return limit }
    return min(limit, current - .now)
  }
}
