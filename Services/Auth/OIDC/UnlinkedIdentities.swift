import Database
import Foundation
import Wire

/// The subjects of external issuers that users have unlinked from their accounts. From then on such a subject is
/// another user, whatever its e-mail address.
enum UnlinkedIdentities {
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

  /// Records the identities and ends the sessions of their bearers, in the transaction that removes them.
  static func record(
    _ identities: [Profile.LinkedIdentity], of user: UserID, at now: Date, on db: any Connection
  ) throws -> [EndedSession] {
    for identity in identities {
      try db.change(
        """
        insert into unlinked (issuer, subject, account_id, unlinked_at)
        values (\(identity.issuer), \(identity.subject), \(user), \(now))
        on conflict (issuer, subject) do update set account_id = excluded.account_id, unlinked_at = excluded.unlinked_at
        """)
    }
    return [EndedSession(externalTokensOf: user, at: now)]
  }

  static func contains(_ identity: Identity, on db: any Connection) throws -> Bool {
    try db.row(
      "select account_id from unlinked where issuer = \(identity.issuer) and subject = \(identity.subject)") != nil
  }
}
