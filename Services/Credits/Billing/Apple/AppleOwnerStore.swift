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
  static func add(_ report: AppStoreReport, on db: any Connection) throws {
    let text = String(decoding: try JSON.encodeExact(report), as: UTF8.self)
    try db.change(
      """
      insert into apple_unowned_report (original_id, report) values (\(report.transaction.originalID), \(text))
      on conflict (original_id, report) do nothing
      """)
  }

  /// Deletes and returns what has been reported before the purchase was claimed.
  static func takeReports(of originalID: String, on db: any Connection) throws -> [AppStoreReport] {
    try db.rows("delete from apple_unowned_report where original_id = \(originalID) returning report").map { row in
      try JSON.decode(AppStoreReport.self, from: Data(try row.get("report", as: String.self).utf8))
    }
  }

  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("update apple_original set user_id = null, claimed_at = null where user_id = \(user)")
  }
}
