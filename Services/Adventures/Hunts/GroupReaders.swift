import Database
import EventFeed
import Foundation
import RestQueries
import Wire

/// The members of groups who have been let into the topics of the groups' hunts, by an event each. Groups tells who has
/// joined after they are in: until then they may not read, as the log would be sent to them from its beginning.
struct GroupReaders: Sendable {
  let database: any Database

  /// How many hunts an event lets somebody into, as events have a size.
  private static let batchSize = 100

  /// The caller's groups into whose hunts they have not been let.
  func groups(newTo caller: RestQueries.Caller) async throws -> [GroupID] {
    let known = try await database.readOnce { db in
      try db.rows("select group_id from group_reader where user_id = \(caller.id)")
        .map { try $0.get("group_id", as: GroupID.self) }
    }
    return Array(Set(caller.groups).subtracting(known))
  }

  /// The same for the group of one hunt.
  func groups(newTo caller: RestQueries.Caller, ofHunt hunt: String) async throws -> [GroupID] {
    try await database.readOnce { db in
      try db.rows(
        """
        select h.group_id from hunt h where h.id = \(ID<Hunt>(hunt)) and h.group_id in (\(list: caller.groups))
          and not exists (select 1 from group_reader r where r.user_id = \(caller.id) and r.group_id = h.group_id)
        """
      ).map { try $0.get("group_id") }
    }
  }

  /// Lets the caller into the hunts of those groups that they are in, and out of the hunts of the others.
  ///
  /// - Parameter departed: the groups of which the end of reading is recorded also where no beginning was noted, as
  ///   reading began before beginnings were.
  /// - Returns: whether somebody was let in or out who was not before.
  func update(
    _ groups: Set<GroupID>, of caller: RestQueries.Caller, departed: [GroupID]
  ) async throws -> Bool {
    try await database.write { db in
      // Without events nobody reads.
      guard EventFeed.isRecording(on: db) else { return false }
      var hasChanged = false
      // In the same order in every transaction, as the rows are locks.
      for group in groups.sorted(by: { $0.description < $1.description }) {
        let isChange =
          caller.groups.contains(group)
          ? try Self.show(group, to: caller, on: db)
          : try Self.hide(group, from: caller, always: departed.contains(group), on: db)
        hasChanged = hasChanged || isChange
      }
      return hasChanged
    }
  }

  /// Lets members of a group into new hunts of it, who were let into the others before.
  func letIn(_ users: Set<UserID>, to hunts: [String], of group: GroupID, at now: Date) async throws {
    guard !users.isEmpty else { return }
    try await database.write { db in
      guard EventFeed.isRecording(on: db) else { return }
      let isNew: SQL = "h.id in (\(list: hunts.compactMap { ID<Hunt>($0) }))"
      try Self.forEachBatch(of: group, where: isNew, on: db) { hunts in
        for user in users { HuntEvents.shown(hunts, of: group, to: user, at: now, on: db) }
      }
    }
  }

  /// Those hunts that they see as a member only.
  private static func show(_ group: GroupID, to caller: RestQueries.Caller, on db: any Connection) throws -> Bool {
    let count = try db.change(
      """
      insert into group_reader (user_id, group_id) values (\(caller.id), \(group))
      on conflict (user_id, group_id) do nothing
      """)
    guard count > 0 else { return false }
    let isShown: SQL = """
      h.created_by <> \(caller.id) and h.id not in (
        select mine.hunt_id from hunt_participant mine where mine.user_id = \(caller.id) and mine.group_id is null)
      """
    try forEachBatch(of: group, where: isShown, on: db) { hunts in
      HuntEvents.shown(hunts, of: group, to: caller.id, at: caller.now, on: db)
    }
    return true
  }

  private static func hide(
    _ group: GroupID, from caller: RestQueries.Caller, always: Bool, on db: any Connection
  ) throws -> Bool {
    let count = try db.change(
      "delete from group_reader where user_id = \(caller.id) and group_id = \(group)")
    guard count > 0 || always else { return false }
    let isHidden: SQL = "not (\(AdventureTables.isVisible("h.id", caller)))"
    try forEachBatch(of: group, where: isHidden, on: db) { hunts in
      HuntEvents.hidden(hunts, of: group, from: caller.id, at: caller.now, on: db)
    }
    return count > 0
  }

  private static func forEachBatch(
    of group: GroupID, where condition: SQL, on db: any Connection, _ body: ([String]) -> Void
  ) throws {
    var hunts: [String] = []
    repeat {
      let isEarlier: SQL = hunts.last.map { "h.id < \(ID<Hunt>($0)) and" } ?? ""
      hunts = try db.rows(
        """
        select h.id from hunt h where h.group_id = \(group) and \(isEarlier) \(condition)
        order by h.id desc limit \(batchSize)
        """
      ).map { try $0.get("id") }
      if !hunts.isEmpty { body(hunts) }
    } while hunts.count == batchSize
  }
}
