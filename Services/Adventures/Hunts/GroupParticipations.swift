import Database
import Foundation
import RestQueries
import Wire

/// Ends the participation of those who took part in a hunt as members of its group and are in the group no longer.
/// Their rights have ended before: statements compare the groups of the caller.
struct GroupParticipations: Sendable {
  let database: any Database
  let now: @Sendable () -> Date

  private static let batchSize = 100

  /// - Parameter groups: all that the user is in.
  func end(of user: UserID, outside groups: [GroupID]) async throws {
    let now = now()
    let ended = try await database.readOnce { db in try Self.outside(groups, user, on: db) }
    guard !ended.isEmpty else { return }
    try await database.write { db in
      _ = try Hunt.lock(ended, on: db)
      for hunt in ended {
        let deleted = try db.change(
          """
          delete from hunt_participant where hunt_id = \(ID<Hunt>(hunt)) and user_id = \(user)
            and group_id is not null and (group_id in (\(list: groups))) is not true
          """)
        guard deleted == 1 else { continue }
        let sees = try Hunt.isVisible(hunt, RestQueries.Caller(user, at: now, groups: groups), on: db)
        try ParticipantStore.ended(user, in: hunt, sees: sees, at: now, on: db)
      }
    }
  }

  private static func outside(_ groups: [GroupID], _ user: UserID, on db: any Connection) throws -> [String] {
    try db.rows(
      """
      select hunt_id, group_id from hunt_participant where user_id = \(user) and group_id is not null
      order by hunt_id limit \(batchSize)
      """
    ).filter { !groups.contains(try $0.get("group_id")) }.map { try $0.get("hunt_id") }
  }
}
