import Database
import Wire

/// Waits for the delivery of the events with which users are let into topics. Where the events service does not have
/// such an event yet, it would send the user what happened before.
struct GrantDelivery: Sendable {
  let database: any Database

  /// Most are delivered within milliseconds.
  private static let intervals = (first: Duration.milliseconds(10), longest: Duration.milliseconds(200))
  /// Less than the events service waits for the answer to a question.
  private static let limit = Duration.seconds(4)

  /// Returns when no event waits that lets the user, who may read the topics, into one of them.
  ///
  /// - Throws: 503 when it has not been delivered in time.
  func waitForGrant(of user: UserID, to topics: Set<String>) async throws {
    let end = ContinuousClock.now + Self.limit
    var interval = Self.intervals.first
    while try await database.readOnce({ db in try EventOutboxStore.hasGrant(of: user, to: topics, on: db) }) {
      guard ContinuousClock.now < end else { throw Failure.unavailable }
      try await Task.sleep(for: interval)
      interval = min(interval * 2, Self.intervals.longest)
    }
  }
}
