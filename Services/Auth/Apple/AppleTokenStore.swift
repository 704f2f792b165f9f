import Database
import Foundation
import Tokens
import Wire

/// Every statement on Apple's refresh tokens, which are only there sealed.
struct AppleTokenStore: Sendable {
  let database: any Database
  let keys: DataKeys

  static let migration = Migration(
    "Apple's tokens, mail to Apple's relay",
    """
    create table apple_token (
      subject text not null,
      app text not null,
      account_id uuid not null references account (id),
      sealed bytea not null,
      granted_at timestamptz not null
    );
    create unique index apple_token_subject_app on apple_token (subject, app);
    create index apple_token_account on apple_token (account_id);

    alter table identity add column is_email_disabled boolean not null default false;
    alter table identity add column email_told_at timestamptz;
    """)

  struct Kept: Sendable {
    let subject: String
    let app: String
    fileprivate let sealed: [UInt8]
  }

  /// The newest of each person and app. False when the account has been erased, or Apple taken away from it.
  func keep(_ token: String, subject: String, app: String, of user: UserID, at now: Date) async throws -> Bool {
    let sealed = try keys.seal(Data(token.utf8), purpose: Self.purpose(subject, app))
    return try await database.write { db in
      // The row is the lock that an erasure takes, too.
      let isThere = try db.change("update account set erased_at = null where id = \(user) and erased_at is null")
      guard isThere == 1, try AppleIdentityStore.account(of: subject, on: db) == user else { return false }
      try db.change(
        """
        insert into apple_token (subject, app, account_id, sealed, granted_at)
        values (\(subject), \(app), \(user), \(sealed), \(now))
        on conflict (subject, app) do update set account_id = excluded.account_id, sealed = excluded.sealed,
          granted_at = excluded.granted_at
        """)
      return true
    }
  }

  func tokens(of user: UserID, grantedUntil then: Date) async throws -> [Kept] {
    try await database.read { db in
      try db.rows(
        """
        select subject, app, sealed from apple_token where account_id = \(user) and granted_at <= \(then) order by app
        """
      ).map { Kept(subject: try $0.get("subject"), app: try $0.get("app"), sealed: try $0.get("sealed")) }
    }
  }

  static func hasAny(_ user: UserID, on db: any Connection) throws -> Bool {
    try db.row("select app from apple_token where account_id = \(user) limit 1") != nil
  }

  /// nil when the key that sealed it is gone.
  func opened(_ kept: Kept) -> String? {
    // `try?`: there is nothing to be learned from how opening fails.
    (try? keys.open(kept.sealed, purpose: Self.purpose(kept.subject, kept.app))).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Unless a newer one has taken its place.
  func forget(_ kept: Kept, of user: UserID) async throws {
    try await database.write { db in
      try db.change(
        """
        delete from apple_token where subject = \(kept.subject) and app = \(kept.app) and account_id = \(user)
          and sealed = \(kept.sealed)
        """)
    }
  }

  private static func purpose(_ subject: String, _ app: String) -> String { "apple token \(app) \(subject)" }
}
