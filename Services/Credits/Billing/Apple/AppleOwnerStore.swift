import Database
import Foundation
import Wire

/// Every statement on who owns purchases that carry no `appAccountToken`, and on what waits for an owner.
///
/// The row of the original transaction is the lock: a report is stored before its purchase is claimed, and then applied
/// by the claim, or it finds the owner.
enum AppleOwnerStore {
  /// The owner of the original transaction; nil when nobody has claimed it.
  static func lockedOwner(of originalID: String, on db: any Connection) throws -> UserID? {
    try db.change(
      "insert into apple_original (original_id) values (\(originalID)) on conflict (original_id) do nothing")
    return try db.row(
      "update apple_original set original_id = original_id where original_id = \(originalID) returning user_id"
    )?.optional("user_id")
  }

  /// Makes `user` the owner unless there is one.
  ///
  /// - Returns: the owner.
  static func claim(_ originalID: String, by user: UserID, at now: Date, on db: any Connection) throws -> UserID {
    if let owner = try lockedOwner(of: originalID, on: db) { return owner }
    try db.change(
      "update apple_original set user_id = \(user), claimed_at = \(now) where original_id = \(originalID)")
    return user
  }

  /// Stores a report until its purchase is claimed. Safe to repeat.
  static func add(_ report: AppStoreReport, at now: Date, on db: any Connection) throws {
    let text = String(decoding: try JSON.encodeExact(report), as: UTF8.self)
    try db.change(
      """
      insert into apple_unowned_report (original_id, report, stored_at)
      values (\(report.transaction.originalID), \(text), \(now))
      on conflict (original_id, report) do nothing
      """)
  }

  /// Deletes and returns what has been reported before the purchase was claimed.
  static func takeReports(of originalID: String, on db: any Connection) throws -> [AppStoreReport] {
    try reports(db.rows("delete from apple_unowned_report where original_id = \(originalID) returning report"))
  }

  /// The same for what was stored before a time.
  static func takeReports(of originalID: String, before date: Date, on db: any Connection) throws -> [AppStoreReport] {
    try reports(
      db.rows(
        """
        delete from apple_unowned_report where original_id = \(originalID) and stored_at <= \(date) returning report
        """))
  }

  private static func reports(_ rows: [Row]) throws -> [AppStoreReport] {
    try rows.map { row in
      try JSON.decode(AppStoreReport.self, from: Data(try row.get("report", as: String.self).utf8))
    }
  }

  /// The original transactions of reports that were stored before a time, the oldest first; one for each report.
  static func originals(withReportsBefore date: Date, limit: Int, on db: any Connection) throws -> [String] {
    try db.rows(
      "select original_id from apple_unowned_report where stored_at <= \(date) order by stored_at limit \(limit)"
    ).map { try $0.get("original_id") }
  }

  /// Deletes an original transaction that nobody owns, and of which nothing is reported.
  static func deleteUnowned(_ originalID: String, on db: any Connection) throws {
    try db.change(
      """
      delete from apple_original where original_id = \(originalID) and user_id is null
        and not exists (select 1 from apple_unowned_report where original_id = \(originalID))
      """)
  }

  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("update apple_original set user_id = null, claimed_at = null where user_id = \(user)")
  }
}
