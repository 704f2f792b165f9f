/// When the caller of what this task does stops waiting. Set where a request comes in, passed on by every call to another
/// service, so that nobody works on for somebody who has left.
package enum Deadline {
  @TaskLocal package static var current: ContinuousClock.Instant?

  /// The time that is left of `limit` and of the present deadline, whichever ends first.
  package static func remaining(of limit: Duration) -> Duration {
    guard let current else { return limit }
    return min(limit, current - .now)
  }
}
