import Database
import EventFeed
import Foundation
import RestQueries
import Wire

/// Whom blocks keep apart from these users has to be known before the transaction.
struct BlocksNeeded: Error {
  let users: Set<UserID>
}

/// The events of hunts, on the topic of the hunt. Each is recorded in the transaction of the change, which holds the
/// hunt's lock. Its readers are all who see the hunt. Those who also see its submissions, which are its creator and its
/// participants, read these on a topic of their own, without photos.
struct HuntEvents {
  let caller: RestQueries.Caller
  let engine: Engine
  /// The members of the groups of new hunts, who see these.
  var members: [GroupID: [UserID]] = [:]

  /// - Parameter before: the states of the hunts before an update.
  func changed(
    _ keys: [String], _ type: RowChange.Kind, before: [String: HuntStatus] = [:], on db: any Connection
  ) throws {
    for row in try ChangedRows.records(of: AdventureTables.hunts, keys, for: caller, on: db, engine) {
      guard let id = row["id"]?.text else { continue }
      let isNew = type == .insert && row["created_at"] == row["updated_at"]
      // What only the reader's own request says, and what lets others in.
      let record = row.filter { $0.key != "progress" && $0.key != "invite_code" }
      let name = isNew ? "hunt_created" : Self.name(from: before[id], to: row["status"]?.text)
      EventFeed.record(
        name,
        to: [EventTopic.hunt(id)] + (isNew ? [EventTopic.user(caller.id)] : []),
        ["hunt_id": id, "status": row["status"] ?? .null],
        change: ChangedRows.change(AdventureTables.hunts, isNew ? .insert : .update, record),
        access: isNew ? accessToNew(id, of: row["group_id"]?.text.flatMap { GroupID($0) }) : nil,
        push: name == "hunt_started" ? try startPush(of: id, row, on: db) : nil,
        of: caller.id, at: caller.now, on: db)
    }
  }

  private func accessToNew(_ hunt: String, of group: GroupID?) -> [AccessChange] {
    let others = (group.flatMap { members[$0] } ?? []).filter { $0 != caller.id }
    return Self.access(of: caller.id, to: hunt, mayRead: true)
      + others.map { AccessChange(topic: EventTopic.hunt(hunt), user: $0, mayRead: true) }
  }

  /// Who takes part already is notified of the start, and so are the members of the hunt's group, who may still join.
  private func startPush(
    of id: String, _ row: [String: JSONValue], on db: any Connection
  ) throws -> PushDetails? {
    guard EventFeed.isRecording(on: db) else { return nil }
    let participants = try db.rows(
      "select user_id from hunt_participant where hunt_id = \(ID<Hunt>(id)) order by user_id limit \(Self.notifiedMax)")
    return PushDetails(
      recipients: try participants.map { try $0.get("user_id") },
      readersOf: row["group_id"]?.text.flatMap { GroupID($0) }.map(EventTopic.group), actor: caller.id,
      subject: row["title"]?.text)
  }

  private static let notifiedMax = 500

  private static func name(from before: HuntStatus?, to status: String?) -> String {
    guard let before, before.rawValue != status else { return "hunt_changed" }
    return switch status.flatMap(HuntStatus.init) {
    case .active: "hunt_started"
    case .completed: "hunt_completed"
    case .cancelled: "hunt_cancelled"
    default: "hunt_changed"
    }
  }

  static func deleted(_ id: String, at now: Date, on db: any Connection) {
    EventFeed.record(
      "hunt_deleted", to: [EventTopic.hunt(id)], ["hunt_id": id],
      change: ChangedRows.deletion(AdventureTables.hunts, id),
      access: [.end(of: EventTopic.hunt(id)), .end(of: EventTopic.submissions(id))], of: nil, at: now, on: db)
  }

  /// The time of a hunt is over. Its row is as it was.
  static func ended(_ id: String, of creator: UserID, at now: Date, on db: any Connection) {
    EventFeed.record("hunt_ended", to: [EventTopic.hunt(id)], ["hunt_id": id], of: creator, at: now, on: db)
  }

  func checkpointsChanged(_ keys: [String], _ type: RowChange.Kind, on db: any Connection) throws {
    for row in try ChangedRows.records(of: AdventureTables.checkpoints, keys, for: caller, on: db, engine) {
      guard let hunt = row["hunt_id"]?.text else { continue }
      EventFeed.record(
        "checkpoint_changed", to: [EventTopic.hunt(hunt)], ["hunt_id": hunt, "checkpoint_id": row["id"] ?? .null],
        change: ChangedRows.change(AdventureTables.checkpoints, type, row), of: caller.id, at: caller.now, on: db)
    }
  }

  func checkpointDeleted(_ key: String, of hunt: String, on db: any Connection) {
    EventFeed.record(
      "checkpoint_changed", to: [EventTopic.hunt(hunt)], ["hunt_id": hunt, "checkpoint_id": key],
      change: ChangedRows.deletion(AdventureTables.checkpoints, key), of: caller.id, at: caller.now, on: db)
  }

  /// Whoever sees the hunt sees on its leaderboard that somebody has submitted something, but not at which checkpoint.
  ///
  /// - Parameter blocked: as below.
  func submitted(_ keys: [String], _ blocked: [UserID: Set<UserID>], on db: any Connection) throws {
    for hunt in try record("checkpoint_submitted", .insert, keys, blocked, on: db).sorted() {
      EventFeed.record(
        "checkpoint_submitted", to: [EventTopic.hunt(hunt)], ["hunt_id": hunt, "user_id": caller.id], of: caller.id,
        at: caller.now, on: db)
    }
  }

  /// - Parameter blocked: whom blocks keep apart from those who have submitted, of others than the caller.
  /// - Throws: ``BlocksNeeded``.
  func verified(_ keys: [String], _ blocked: [UserID: Set<UserID>], on db: any Connection) throws {
    try record("submission_verified", .update, keys, blocked, on: db)
  }

  /// To those who see the submissions.
  ///
  /// - Returns: their hunts.
  @discardableResult
  private func record(
    _ name: String, _ type: RowChange.Kind, _ keys: [String], _ blocked: [UserID: Set<UserID>], on db: any Connection
  ) throws -> Set<String> {
    let rows = try ChangedRows.records(of: AdventureTables.submissions, keys, for: caller, on: db, engine)
    let blocked = blocked.merging([caller.id: Set(caller.blocked)]) { $1 }
    let users = Set(rows.compactMap { $0["user_id"]?.text.flatMap { UserID($0) } })
    guard users.allSatisfy({ blocked[$0] != nil }) else { throw BlocksNeeded(users: users) }
    var hunts: Set<String> = []
    for row in rows {
      guard let checkpoint = row["checkpoint_id"]?.text, let hunt = try Self.hunt(of: checkpoint, on: db) else {
        continue
      }
      hunts.insert(hunt)
      let user = row["user_id"]?.text.flatMap { UserID($0) }
      let readers = EventTopic.submissions(hunt)
      let (topic, apart) = Self.audience(readers, of: user, apart: user.flatMap { blocked[$0] } ?? [])
      if topic != readers { EventFeed.record("hidden", to: [readers], [:], of: user, at: caller.now, on: db) }
      EventFeed.record(
        name, to: [topic],
        ["hunt_id": hunt, "checkpoint_id": checkpoint, "user_id": row["user_id"] ?? .null],
        change: ChangedRows.change(AdventureTables.submissions, type, row.filter { $0.key != "photo_url" }),
        hiddenFrom: apart, of: user, at: caller.now, on: db)
    }
    return hunts
  }

  /// Where somebody's submissions are told, and who learns there only that there was one. Groups does not name all of
  /// those from whom very many blocks keep somebody apart: any reader may be one of the others, so that the submissions
  /// are told to nobody else.
  private static func audience(
    _ readers: String, of user: UserID?, apart: Set<UserID>
  ) -> (topic: String, hiddenFrom: Set<UserID>) {
    guard let user, apart.count >= MemberOfGroups.blockedMax else { return (readers, apart) }
    return (EventTopic.user(user), [])
  }

  private static func hunt(of checkpoint: String, on db: any Connection) throws -> String? {
    try db.row("select hunt_id from hunt_checkpoint where id = \(ID<Hunt>(checkpoint))")?.get("hunt_id")
  }

  /// - Parameter topics: those of the hunt that they could not read before.
  static func joined(
    _ user: UserID, _ hunt: String, as id: String, opening topics: [String], at now: Date, on db: any Connection
  ) {
    EventFeed.record(
      "participant_joined", to: [EventTopic.hunt(hunt), EventTopic.user(user)], ["hunt_id": hunt, "user_id": user],
      change: .of(
        AdventureTables.participants.name, .insert, key: ["id": id],
        ["hunt_id": hunt, "user_id": user, "joined_at": RFC3339.seconds(now)]),
      access: topics.isEmpty ? nil : topics.map { AccessChange(topic: $0, user: user, mayRead: true) }, of: user,
      at: now, on: db)
  }

  /// Hunts that somebody sees no longer, as they are not in the group any more.
  static func hidden(_ hunts: [String], of group: GroupID, from user: UserID, at now: Date, on db: any Connection) {
    EventFeed.record(
      "hunts_hidden", to: [EventTopic.user(user)], ["group_id": group],
      access: hunts.map { AccessChange(topic: EventTopic.hunt($0), user: user, mayRead: false) }, of: user, at: now,
      on: db)
  }

  /// Hunts that somebody sees now, as they have joined the group.
  static func shown(_ hunts: [String], of group: GroupID, to user: UserID, at now: Date, on db: any Connection) {
    EventFeed.record(
      "hunts_shown", to: [EventTopic.user(user)], ["group_id": group],
      access: hunts.map { AccessChange(topic: EventTopic.hunt($0), user: user, mayRead: true) }, of: user, at: now,
      on: db)
  }

  /// - Parameters:
  ///   - id: of the row.
  ///   - readable: the topics of the hunt that they may read all the same.
  static func left(
    _ user: UserID, _ hunt: String, as id: String, readable: [String], at now: Date, on db: any Connection
  ) {
    EventFeed.record(
      "participant_left", to: [EventTopic.hunt(hunt), EventTopic.user(user)], ["hunt_id": hunt, "user_id": user],
      change: ChangedRows.deletion(AdventureTables.participants, id),
      access: access(of: user, to: hunt, mayRead: false).filter { !readable.contains($0.topic) }, of: user, at: now,
      on: db)
  }

  /// The account of a participant is erased, with their own topic.
  static func erased(_ user: UserID, _ hunt: String, as id: String, at now: Date, on db: any Connection) {
    EventFeed.record(
      "participant_left", to: [EventTopic.hunt(hunt)], ["hunt_id": hunt, "user_id": user],
      change: ChangedRows.deletion(AdventureTables.participants, id),
      access: access(of: user, to: hunt, mayRead: false), of: user, at: now, on: db)
  }

  /// The account of somebody is erased, with what they have submitted. To those who see submissions.
  static func submissionsErased(_ keys: [String], of hunt: String, at now: Date, on db: any Connection) {
    let changes = keys.map { ChangedRows.deletion(AdventureTables.submissions, $0) }
    EventFeed.record(
      "submissions_deleted", to: [EventTopic.submissions(hunt)], ["hunt_id": hunt],
      change: changes.first, changes: Array(changes.dropFirst()), of: nil, at: now, on: db)
  }

  private static func access(of user: UserID, to hunt: String, mayRead: Bool) -> [AccessChange] {
    [EventTopic.hunt(hunt), EventTopic.submissions(hunt)].map {
      AccessChange(topic: $0, user: user, mayRead: mayRead)
    }
  }
}
