import Clients
import Database
import Foundation
import RestQueries
import Wire

/// The names that leaderboards show. Auth knows them; they are kept here so that one statement reads a leaderboard, and
/// fetched again when one is read and they are older than five minutes.
struct ParticipantNames: Sendable {
  let database: any Database
  let users: UsersClient

  private static let lifetimeSeconds = 300.0
  private static let batchSize = 200

  /// Of those who are in the same hunts as the caller, or in the caller's own hunts and those of their groups.
  func refresh(for caller: RestQueries.Caller) async throws {
    let old = caller.now - Self.lifetimeSeconds
    let due = try await database.readOnce { db in
      try db.rows(
        """
        select distinct s.user_id from hunt_score s left join participant_name n on n.user_id = s.user_id
        where \(AdventureTables.isVisible("s.hunt_id", caller)) and (n.user_id is null or n.fetched_at <= \(old))
        limit \(Self.batchSize)
        """
      ).map { try $0.get("user_id", as: UserID.self) }
    }
    guard !due.isEmpty else { return }
    // `try?`: while auth does not answer, the last known names are shown.
    guard let found = try? await users.people(Set(due)) else { return }
    try await database.write { db in
      let present = try Self.lock(due, on: db)
      try Self.store(Dictionary(present.map { ($0, found[$0]?.name) }) { $1 }, at: caller.now, on: db)
    }
  }

  /// Whoever is erased meanwhile gets no name again: a locked score is erased after this, and its user's name with it.
  ///
  /// - Returns: those of the users who still have a score.
  static func lock(_ users: [UserID], on db: any Connection) throws -> [UserID] {
    let inOrder = users.sorted { $0.description < $1.description }
    return try db.rows(
      of: inOrder.map { user in
        """
        update hunt_score set score = score where user_id = \(user)
          and hunt_id = (select hunt_id from hunt_score where user_id = \(user) limit 1)
        returning user_id
        """
      }
    ).joined().map { try $0.get("user_id") }
  }

  /// - Parameter name: nil where it is not known, which does not replace one that was.
  static func store(_ name: String?, of user: UserID, at now: Date, on db: any Connection) throws {
    if let name { try store([user: name], at: now, on: db) }
  }

  /// In the order of the ids, so that two transactions cannot deadlock. Whoever has no name any more gets none.
  private static func store(_ names: [UserID: String?], at now: Date, on db: any Connection) throws {
    for (user, name) in names.sorted(by: { $0.key.description < $1.key.description }) {
      try db.change(
        """
        insert into participant_name (user_id, name, fetched_at) values (\(user), \(name), \(now))
        on conflict (user_id) do update set name = excluded.name, fetched_at = excluded.fetched_at
        """)
    }
  }
}
