import Database
import EventFeed
import Foundation
import RestQueries
import Wire

/// The statements on participants. The caller holds the hunt's lock.
enum ParticipantStore {
  /// As many as a group may have members.
  private static let countMax = 10_000

  /// Adds the caller, who is not in yet. Whoever was in as a member of the group and comes back by the code stays without
  /// it.
  ///
  /// - Parameter group: by whose membership; nil for the creator and for those who are in none and have the code.
  /// - Throws: ``RestQueries/RestFailure`` 54000 when there are too many participants of the hunt, or the caller is in
  ///   too many hunts. The transaction must then not be committed.
  static func add(
    _ caller: RestQueries.Caller, to hunt: Hunt, through group: GroupID?, on db: any Connection, _ engine: Engine
  ) throws {
    let (user, time) = (caller.id, caller.rowTime)
    let id = ID<Hunt>.new(at: caller.now)
    try AdventureTables.participants.lockOwnRows(of: caller, on: db, engine)
    let row = try db.row(
      """
      insert into hunt_participant (id, hunt_id, user_id, group_id, joined_at)
      values (\(id), \(ID<Hunt>(hunt.id)), \(user), \(group), \(time))
      on conflict (hunt_id, user_id) do update
        set group_id = case when excluded.group_id is null then null else hunt_participant.group_id end
      returning id
      """)
    guard try row?.get("id", as: String.self) == id.description else { return }
    try requireFew(in: hunt, on: db)
    try AdventureTables.participants.requireFewOwnRows(of: caller, on: db)
    try db.change(
      """
      insert into hunt_score (hunt_id, user_id, score, completed_checkpoints)
      values (\(ID<Hunt>(hunt.id)), \(user), 0, 0)
      on conflict (hunt_id, user_id) do nothing
      """)
    let topics = topics(opening: hunt, to: user, through: group)
    HuntEvents.joined(user, hunt.id, as: id.description, opening: topics, at: time, on: db)
  }

  private static func requireFew(in hunt: Hunt, on db: any Connection) throws {
    let row = try db.row("select count(*) as count from hunt_participant where hunt_id = \(ID<Hunt>(hunt.id))")
    guard try row?.get("count", as: Int.self) ?? 0 <= countMax else {
      throw RestFailure(400, "54000", "There are too many participants of one hunt", details: "at most \(countMax)")
    }
  }

  /// The creator reads everything already, and the members of the group the hunt.
  private static func topics(opening hunt: Hunt, to user: UserID, through group: GroupID?) -> [String] {
    guard user != hunt.createdBy else { return [] }
    return (group == nil ? [EventTopic.hunt(hunt.id)] : []) + [EventTopic.submissions(hunt.id)]
  }

  /// - Parameter groups: those that the user is in: who takes part as a member of a group does so no longer without it.
  static func isParticipant(
    _ user: UserID, throughGroups groups: [GroupID], in hunt: String, on db: any Connection
  ) throws -> Bool {
    let row = try db.row(
      """
      select id from hunt_participant where hunt_id = \(ID<Hunt>(hunt)) and user_id = \(user)
        and (group_id is null or group_id in (\(list: groups)))
      """)
    return row != nil
  }

  /// The caller takes part no longer. What they have submitted stays and counts.
  ///
  /// - Parameter id: of the row.
  static func ended(
    _ id: String, of caller: RestQueries.Caller, in hunt: String, on db: any Connection
  ) throws {
    try db.change(
      """
      delete from hunt_score
      where hunt_id = \(ID<Hunt>(hunt)) and user_id = \(caller.id) and completed_checkpoints = 0
      """)
    var readable: [String] = []
    if try Hunt.isVisible(hunt, caller, on: db) { readable.append(EventTopic.hunt(hunt)) }
    if try Hunt.areSubmissionsVisible(in: hunt, caller, on: db) { readable.append(EventTopic.submissions(hunt)) }
    HuntEvents.left(caller.id, hunt, as: id, readable: readable, at: caller.now, on: db)
  }
}
