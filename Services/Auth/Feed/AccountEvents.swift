import Database
import EventFeed
import Foundation
import Tokens
import Wire

/// The events of accounts and sessions, on the user's own topic. Each is recorded in the transaction of the change.
enum AccountEvents {
  static func sessionsEnded(
    _ sessions: [EndedSession], of user: UserID, reason: EndReason, at now: Date, on db: any Connection
  ) {
    for session in sessions {
      EventFeed.record(
        "session_ended", to: [EventTopic.user(user)], ["session_id": session.session, "reason": reason.rawValue],
        of: user, at: now, on: db)
    }
  }

  /// A refresh token was used a second time, so it is in two hands. All sessions were ended.
  static func tokenTheftNoticed(of user: UserID, in session: SessionID, at now: Date, on db: any Connection) {
    EventFeed.record(
      "token_theft_noticed", to: [EventTopic.user(user)], ["session_id": session], of: user, at: now, on: db)
  }

  /// - Parameter account: after the change.
  static func changed(_ account: Account, at now: Date, on db: any Connection) {
    EventFeed.record(
      "account_changed", to: [EventTopic.user(account.id)], [:],
      change: .of(
        "users", .update, key: ["id": account.id],
        [
          "email": account.email, "display_name": account.displayName, "avatar_url": account.avatarURL,
          "created_at": account.createdAt, "updated_at": now,
        ]), of: account.id, at: now, on: db)
  }

  /// The account was deactivated, and will be erased.
  static func deleted(_ user: UserID, erasedAfter due: Date, at now: Date, on db: any Connection) {
    EventFeed.record(
      "account_deleted", to: [EventTopic.user(user)], ["erased_after": due], of: nil, at: now, on: db)
  }

  static func erased(_ user: UserID, at now: Date, on db: any Connection) {
    EventFeed.record("account_erased", to: [EventTopic.user(user)], [:], of: nil, at: now, on: db)
  }
}
