import Database
import Foundation
import Wire

/// Every statement on the consent of users to tell the App Store about their consumption, and on what it was told.
enum AppleConsentStore {
  static func set(_ isGiven: Bool, by user: UserID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into apple_consent (user_id, is_given, changed_at) values (\(user), \(isGiven), \(now))
      on conflict (user_id) do update set is_given = excluded.is_given, changed_at = excluded.changed_at
      """)
  }

  /// nil when the user has never been asked.
  static func consent(of user: UserID, on db: any Connection) throws -> Bool? {
    try db.row("select is_given from apple_consent where user_id = \(user)")?.get("is_given")
  }

  static func isAnswered(_ transactionID: String, on db: any Connection) throws -> Bool {
    try db.row(
      "select answered_at from apple_consumption_answer where transaction_id = \(transactionID)") != nil
  }

  static func setAnswered(_ transactionID: String, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into apple_consumption_answer (transaction_id, answered_at) values (\(transactionID), \(now))
      on conflict (transaction_id) do nothing
      """)
  }

  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("delete from apple_consent where user_id = \(user)")
  }
}
