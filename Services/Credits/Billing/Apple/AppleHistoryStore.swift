import Database
import Foundation

/// Every statement on how far the history of notifications has been read, for each app and environment.
enum AppleHistoryStore {
  /// The longest time for which the App Store keeps notifications.
  private static func keptSeconds(_ environment: AppStoreEnvironment) -> Double {
    environment == .production ? 180 * 86_400 : 30 * 86_400
  }

  /// How far back the first reading goes.
  private static let firstSeconds = 30 * 86_400.0

  /// Claims the reading of an app's history if it is due.
  ///
  /// - Parameters:
  ///   - claimedUntil: after this time another replica may begin.
  ///   - readBefore: if it is given, the reading is also due when the last one was before this time.
  /// - Returns: up to when the history has been read; nil when the reading is not due, or somebody else has claimed it.
  static func claim(
    _ app: AppStoreServerClient.App, at now: Date, until claimedUntil: Date, orReadBefore readBefore: Date?,
    on db: any Connection
  ) throws -> Date? {
    let (bundleID, environment) = (app.bundleID, app.environment.rawValue)
    try db.change(
      """
      insert into apple_notification_history (bundle_id, environment, read_until, due_at)
      values (\(bundleID), \(environment), \(now - firstSeconds), \(now))
      on conflict (bundle_id, environment) do nothing
      """)
    let readUntil = try db.row(
      """
      update apple_notification_history set due_at = \(claimedUntil), claimed_until = \(claimedUntil)
      where bundle_id = \(bundleID) and environment = \(environment)
        and (due_at <= \(now) or read_until <= \(readBefore)) and (claimed_until is null or claimed_until <= \(now))
      returning read_until
      """)?.get("read_until", as: Date.self)
    return readUntil.map { max($0, now - keptSeconds(app.environment)) }
  }

  /// Ends the claim.
  ///
  /// - Parameter readUntil: nil when the reading has failed.
  static func finish(
    _ app: AppStoreServerClient.App, readUntil: Date?, due: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      update apple_notification_history set read_until = coalesce(\(readUntil), read_until), due_at = \(due),
        claimed_until = null
      where bundle_id = \(app.bundleID) and environment = \(app.environment.rawValue)
      """)
  }
}
