import Database
import Foundation
import Tokens
import Wire

/// Statements on sessions that are over: who must be told, and when they are forgotten.
extension SessionStore {
  /// A page of the sessions that ended after `cursor`, or that matter at all, whose access tokens could still live.
  ///
  /// The database's own clock says in which order they ended, as those of several replicas do not agree. A transaction
  /// commits some time after the moment that it wrote down: every call reaches back a minute before the cursor, which is
  /// longer than any transaction may take.
  ///
  /// - Parameters:
  ///   - last: where the page before ended.
  ///   - limit: nil asks for all that there are.
  /// - Throws: the validation failure when `last` is no session any more.
  func ended(
    since cursor: Date?, after last: SessionID? = nil, limit: Int?, at now: Date
  ) async throws -> EndedSessions {
    let from = max((cursor ?? .distantPast) - 60, Date(timeIntervalSince1970: 0))
    return try await database.read { [engine = database.engine] db in
      // Before anything is read. It goes on when nothing ends: else the last minute's ends would be told again for ever.
      let present = try db.row(engine == .postgres ? Self.postgresPresent : Self.sqlitePresent)?
        .get("present", as: Date.self)
      let position = try last.map { try Self.position(of: $0, on: db) }
      let page = try Self.ended(since: from, after: position, limit: limit ?? Int(Int32.max), at: now, on: db)
      // These are few, as they matter for some minutes only.
      let bearers = last == nil ? try AccountStore.outsideBearersEnded(at: now, on: db) : []
      return EndedSessions(
        sessions: page + bearers, cursor: max(present ?? from, cursor ?? from),
        next: page.count == limit ? page.last?.session : nil)
    }
  }

  /// The clock of ``notedMigration``, to the millisecond.
  private static let postgresPresent: SQL = "select date_trunc('milliseconds', clock_timestamp()) as present"
  private static let sqlitePresent: SQL = "select strftime('%Y-%m-%dT%H:%M:%fZ', 'now') as present"

  /// How far the clocks of replicas may be apart: what one of them takes for over is told for so much longer.
  static let clocksApart = 3600.0

  private typealias Position = (notedAt: Date, id: SessionID)

  private static func position(of session: SessionID, on db: any Connection) throws -> Position {
    let row = try db.row("select noted_at from session where id = \(session) and noted_at is not null")
    guard let row else { throw Failure.invalid(.init("after", "must be a session that has ended")) }
    return (try row.get("noted_at"), session)
  }

  private static func ended(
    since from: Date, after last: Position?, limit: Int, at now: Date, on db: any Connection
  ) throws -> [EndedSession] {
    let until = now - clocksApart
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

  /// Refresh tokens and sessions are kept for as long after their end as they are shown.
  private static let keptSeconds = 30.0 * 86_400

  /// Forgets refresh tokens that have long expired, at most `limit`.
  static func sweepTokens(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from refresh_token where hash in (
        select hash from refresh_token where expires_at <= \(now - keptSeconds) limit \(limit))
      """)
  }

  /// Forgets sessions of which no token is left and nothing has to be told any more, at most `limit`.
  static func sweep(at now: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from session where id in (
        select id from session where tokens_until <= \(now - keptSeconds)
          and (ended_at is null or ended_at <= \(now - keptSeconds))
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

  /// When a session ended by the database's clock, whichever replica ended it.
  static let notedMigration = Migration(
    "sessions ended by the database's clock",
    sqlite: """
      \(notedColumn)
      create trigger session_noted after update of ended_at on session
        when new.ended_at is not null and old.ended_at is null begin
        update session set noted_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') where id = new.id;
      end;
      """,
    postgres: """
      \(notedColumn)
      create function session_note() returns trigger language plpgsql as
        $$ begin new.noted_at := date_trunc('milliseconds', clock_timestamp()); return new; end $$;
      create trigger session_noted before update of ended_at on session for each row
        when (new.ended_at is not null and old.ended_at is null) execute function session_note();
      """)

  private static let notedColumn = """
    alter table session add column noted_at timestamptz;
    update session set noted_at = ended_at where ended_at is not null;
    create index session_noted on session (noted_at, id) where noted_at is not null;
    drop index session_ended_id;
    """
}
