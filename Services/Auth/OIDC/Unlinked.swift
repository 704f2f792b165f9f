import Database
import Foundation
import Wire

/// Subjects of outside issuers that users have taken away from their accounts: whoever bears them is somebody else from
/// then on, whatever their address.
enum Unlinked {
  static let migration = Migration(
    "unlinked issuers",
    """
    create table unlinked (
      issuer text not null,
      subject text not null,
      account_id uuid not null references account (id),
      unlinked_at timestamptz not null
    );
    create unique index unlinked_issuer_subject on unlinked (issuer, subject);
    create index unlinked_account on unlinked (account_id);
    create index unlinked_time on unlinked (unlinked_at);
    """)

  /// Ends what bearers of these may do, in the transaction that takes them away.
  static func note(
    _ ways: [Profile.Way], of user: UserID, at now: Date, on db: any Connection
  ) throws -> [EndedSession] {
    for way in ways {
      try db.change(
        """
        insert into unlinked (issuer, subject, account_id, unlinked_at)
        values (\(way.issuer), \(way.subject), \(user), \(now))
        on conflict (issuer, subject) do update set account_id = excluded.account_id, unlinked_at = excluded.unlinked_at
        """)
    }
    return [EndedSession(outsideBearersOf: user, at: now)]
  }

  static func contains(_ identity: Identity, on db: any Connection) throws -> Bool {
    try db.row(
      "select account_id from unlinked where issuer = \(identity.issuer) and subject = \(identity.subject)") != nil
  }
}
