import Database
import Foundation
import Tokens
import Wire

/// Every statement on Apple's refresh tokens, which are stored encrypted.
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

  struct SealedToken: Sendable {
    let subject: String
    let app: String
    fileprivate let sealed: [UInt8]
  }

  /// Stores the latest token of a subject and app. False when the account has been erased or the identity removed from
  /// it.
  func store(_ token: String, subject: String, app: String, of user: UserID, at now: Date) async throws -> Bool {
    let sealed = try keys.seal(Data(token.utf8), purpose: Self.purpose(subject, app))
    return try await database.write { db in
      // The update locks the account's row, as an erasure does.
      let updated = try db.change("update account set erased_at = null where id = \(user) and erased_at is null")
      guard updated == 1, try AppleIdentityStore.account(of: subject, on: db) == user else { return false }
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

  func tokens(of user: UserID, grantedUntil then: Date) async throws -> [SealedToken] {
    try await database.read { db in
      try db.rows(
        """
        select subject, app, sealed from apple_token where account_id = \(user) and granted_at <= \(then) order by app
        """
      ).map { SealedToken(subject: try $0.get("subject"), app: try $0.get("app"), sealed: try $0.get("sealed")) }
    }
  }

  static func hasAny(_ user: UserID, on db: any Connection) throws -> Bool {
    try db.row("select app from apple_token where account_id = \(user) limit 1") != nil
  }

  /// nil when the key that encrypted it is not configured any more.
  func opened(_ token: SealedToken) -> String? {
    // `try?`: the error says nothing more.
    (try? keys.open(token.sealed, purpose: Self.purpose(token.subject, token.app))).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Deletes the token unless it has been replaced by a newer one.
  func delete(_ token: SealedToken, of user: UserID) async throws {
    try await database.write { db in
      try db.change(
        """
        delete from apple_token where subject = \(token.subject) and app = \(token.app) and account_id = \(user)
          and sealed = \(token.sealed)
        """)
    }
  }

  private static func purpose(_ subject: String, _ app: String) -> String { "apple token \(app) \(subject)" }
}
