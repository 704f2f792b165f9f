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
    guard let last else {
      // One round trip: auth itself asks every few seconds, and each process every half minute.
      return try await database.readOnce { [engine = database.engine] db in
        // External bearers are not paged: they matter for a few minutes only.
        let statements = Self.statements(since: cursor, after: nil, limit: limit, at: now, on: engine)
        let results = try db.rows(of: statements + [AccountStore.endedExternalBearers(at: now)])
        return try Self.page(results, since: cursor, limit: limit)
      }
    }
    return try await database.read { [engine = database.engine] db in
      let position = try Self.position(of: last, on: db)
      let results = try db.rows(of: Self.statements(since: cursor, after: position, limit: limit, at: now, on: engine))
      return try Self.page(results, since: cursor, limit: limit)
    }
  }

  private typealias Position = (notedAt: Date, id: SessionID)

  private static func position(of session: SessionID, on db: any Connection) throws -> Position {
    let row = try db.row("select noted_at from session where id = \(session) and noted_at is not null")
    guard let row else { throw Failure.invalid(.init("after", "must be a session that has ended")) }
    return (try row.get("noted_at"), session)
  }

  /// The database's time, by the clock of ``databaseClockMigration`` in milliseconds, and the page that is read after it.
  private static func statements(
    since cursor: Date?, after last: Position?, limit: Int?, at now: Date, on engine: Engine
  ) -> [SQL] {
    let time: SQL =
      engine == .postgres
      ? "select date_trunc('milliseconds', clock_timestamp()) as present"
      : "select strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as present"
    let (until, limit) = (now - clockSkewSeconds, limit ?? Int(Int32.max))
    guard let last else {
      return [
        time,
        """
        select id, tokens_until from session
        where noted_at is not null and noted_at > \(earliest(cursor)) and tokens_until > \(until)
        order by noted_at, id limit \(limit)
        """,
      ]
    }
    return [
      time,
      """
      select id, tokens_until from session
      where noted_at is not null and (noted_at, id) > (\(last.notedAt), \(last.id)) and tokens_until > \(until)
      order by noted_at, id limit \(limit)
      """,
    ]
  }

  private static func earliest(_ cursor: Date?) -> Date {
    max((cursor ?? .distantPast) - 60, Date(timeIntervalSince1970: 0))
  }

  /// - Parameter results: of ``statements(since:after:limit:at:on:)``, and the external bearers where they were read.
  private static func page(_ results: [[Row]], since cursor: Date?, limit: Int?) throws -> EndedSessions {
    let sessions = try results[1].map(EndedSession.init)
    let bearers = results.count > 2 ? try results[2].map(AccountStore.endedExternalBearer) : []
    // The cursor advances even when no session ends; otherwise the sessions of the last minute would be returned again
    // with every call.
    let present = try results[0].first?.get("present", as: Date.self) ?? earliest(cursor)
    return EndedSessions(
      sessions: sessions + bearers, cursor: max(present, cursor ?? present),
      next: sessions.count == limit ? sessions.last?.session : nil)
  }

  /// How far the clocks of replicas may differ: a session is reported for this long after the expiry of its last token.
  static let clockSkewSeconds = 3600.0

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

  /// The channel on which PostgreSQL notifies that ``ended(since:after:limit:at:)`` has more.
  static let notifications = "kith_ended_sessions"

  static let notificationMigration = Migration(
    "ended sessions are notified",
    // One process has the file, and knows what it writes.
    sqlite: "",
    postgres: """
      create or replace function session_note() returns trigger language plpgsql as $$ begin
        new.noted_at := date_trunc('milliseconds', clock_timestamp());
        perform pg_notify('kith_ended_sessions', '');
        return new;
      end $$;
      create function notify_ended_sessions() returns trigger language plpgsql as
        $$ begin perform pg_notify('kith_ended_sessions', ''); return null; end $$;
      create trigger account_deactivated after update of deactivated_at on account for each row
        when (new.deactivated_at is not null and old.deactivated_at is null) execute function notify_ended_sessions();
      create trigger unlinked_noted after insert on unlinked for each statement
        execute function notify_ended_sessions();
      """)

  private static let databaseClockColumn = """
    alter table session add column noted_at timestamptz;
    update session set noted_at = ended_at where ended_at is not null;
    create index session_noted on session (noted_at, id) where noted_at is not null;
    drop index session_ended_id;
    """
}
