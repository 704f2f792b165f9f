import Database
import Foundation
import Tokens
import Wire

/// Statements on sessions that have ended: which of them other services have to be notified of, and when they are
/// deleted.
extension SessionStore {
  /// A page of the sessions that ended after `cursor`, or of all ended sessions whose access tokens may not have
  /// expired.
  ///
  /// The order is by the database's clock, as the clocks of replicas differ. A transaction commits some time after the
  /// moment that it records, so every call reaches back a minute before the cursor, which is longer than any
  /// transaction may take.
  ///
  /// - Parameters:
  ///   - last: the last session of the previous page.
  ///   - limit: nil returns all of them.
  /// - Throws: the validation failure when `last` is not an ended session.
  func ended(
    since cursor: Date?, after last: SessionID? = nil, limit: Int?, at now: Date
  ) async throws -> EndedSessions {
    let from = max((cursor ?? .distantPast) - 60, Date(timeIntervalSince1970: 0))
    return try await database.read { [engine = database.engine] db in
      // Read before the page. The cursor advances even when no session ends; otherwise the sessions of the last minute
      // would be returned again with every call.
      let databaseNow = try db.row(engine == .postgres ? Self.postgresNow : Self.sqliteNow)?
        .get("present", as: Date.self)
      let position = try last.map { try Self.position(of: $0, on: db) }
      let page = try Self.ended(since: from, after: position, limit: limit ?? Int(Int32.max), at: now, on: db)
      // These are not paged: they matter for a few minutes only.
      let externalBearers = last == nil ? try AccountStore.endedExternalBearers(at: now, on: db) : []
      return EndedSessions(
        sessions: page + externalBearers, cursor: max(databaseNow ?? from, cursor ?? from),
        next: page.count == limit ? page.last?.session : nil)
    }
  }

  /// The clock of ``databaseClockMigration``, in milliseconds.
  private static let postgresNow: SQL = "select date_trunc('milliseconds', clock_timestamp()) as present"
  private static let sqliteNow: SQL = "select strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as present"

  /// How far the clocks of replicas may differ: a session is reported for this long after the expiry of its last token.
  static let clockSkewSeconds = 3600.0

  private typealias Position = (notedAt: Date, id: SessionID)

  private static func position(of session: SessionID, on db: any Connection) throws -> Position {
    let row = try db.row("select noted_at from session where id = \(session) and noted_at is not null")
    guard let row else { throw Failure.invalid(.init("after", "must be a session that has ended")) }
    return (try row.get("noted_at"), session)
  }

  private static func ended(
    since from: Date, after last: Position?, limit: Int, at now: Date, on db: any Connection
  ) throws -> [EndedSession] {
    let until = now - clockSkewSeconds
    guard let last else {
      return try db.rows(
        """
        select id, tokens_until from session
        where noted_at is not null and noted_at > \(from) and tokens_until > \(until)
        order by noted_at, id limit \(limit)
        """
      ).map(EndedSession.init)
    }
    return try db.rows(
      """
      select id, tokens_until from session
      where noted_at is not null and (noted_at, id) > (\(last.notedAt), \(last.id)) and tokens_until > \(until)
      order by noted_at, id limit \(limit)
      """
    ).map(EndedSession.init)
  }

  /// Refresh tokens and sessions are deleted this long after their end; ended sessions are listed for the same time.
  private static let retentionSeconds = 30.0 * 86_400

  /// Deletes refresh tokens that expired thirty days ago, at most `limit`.
  static func sweepTokens(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from refresh_token where hash in (
        select hash from refresh_token where expires_at <= \(now - retentionSeconds) limit \(limit))
      """)
  }

  /// Deletes sessions that ended, and whose last access token expired, thirty days ago and that have no refresh token
  /// left; at most `limit`.
  static func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from session where id in (
        select id from session where tokens_until <= \(now - retentionSeconds)
          and (ended_at is null or ended_at <= \(now - retentionSeconds))
          and not exists (select 1 from refresh_token t where t.session_id = session.id)
        limit \(limit))
      """)
  }

  static let sweepMigration = Migration(
    "sessions by account and age",
    """
    create index session_all_of_account on session (account_id, opened_at);
    create index session_tokens_until on session (tokens_until);
    create index session_ended_id on session (ended_at, id) where ended_at is not null;
    drop index session_ended;
    create index refresh_token_expiry on refresh_token (expires_at);
    create index known_address_age on known_address (seen_at);
    """)

  /// Records when a session ended by the database's clock, whichever replica ended it.
  static let databaseClockMigration = Migration(
    "sessions ended by the database's clock",
    sqlite: """
      \(databaseClockColumn)
      create trigger session_noted after update of ended_at on session
        when new.ended_at is not null and old.ended_at is null begin
        update session set noted_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') where id = new.id;
      end;
      """,
    postgres: """
      \(databaseClockColumn)
      create function session_note() returns trigger language plpgsql as
        $$ begin new.noted_at := date_trunc('milliseconds', clock_timestamp()); return new; end $$;
      create trigger session_noted before update of ended_at on session for each row
        when (new.ended_at is not null and old.ended_at is null) execute function session_note();
      """)

  private static let databaseClockColumn = """
    alter table session add column noted_at timestamptz;
    update session set noted_at = ended_at where ended_at is not null;
    create index session_noted on session (noted_at, id) where noted_at is not null;
    drop index session_ended_id;
    """
}
