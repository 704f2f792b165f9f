import Database
import Foundation
import Wire

/// The SQL statements on groups.
struct GroupStore: Sendable {
  let database: any Database

  /// The groups that the user is an active member of, the newest first.
  func summaries(of user: UserID, at now: Date) async throws -> [GroupSummary] {
    try await database.read { db in try Self.summaries(of: user, at: now, on: db) }
  }

  /// - Throws: 404 when the user is not a member, as for a group that does not exist.
  func summary(of id: GroupID, for user: UserID, at now: Date) async throws -> GroupSummary {
    guard let summary = try await summaries(of: user, at: now).first(where: { $0.group.id == id }) else {
      throw Failure.groupNotFound
    }
    return summary
  }

  /// Whether the user has sent a photo to the group on its current day.
  ///
  /// - Throws: 403 `not_a_member` when the user is not a member, whether or not the group exists.
  func hasSentToday(_ user: UserID, to id: GroupID, at now: Date) async throws -> Bool {
    try await database.read { db in
      let group = try db.row(
        """
        select social_group.* from social_group join membership m on m.group_id = social_group.id
        where social_group.id = \(id) and social_group.is_limited and m.user_id = \(user) and m.state = 'active'
        """
      ).map(Group.init)
      guard let group else { throw Failure.notInGroup }
      return try Self.sentDays(of: user, among: [group.day(at: now)], on: db).contains(SentDay(id, group.day(at: now)))
    }
  }

  /// Sets the fields of `change` that are not nil. Only the owner may set the time zone, since it moves the end of the
  /// day.
  ///
  /// - Throws: 404 when the user is not a member, 403 `not_the_owner`.
  func change(_ id: GroupID, _ change: GroupChange, by user: UserID, at now: Date) async throws {
    try await database.write { db in
      guard let group = try Self.lock(id, on: db), group.isLimited,
        let role = try MembershipStore.activeRole(of: user, in: id, on: db)
      else { throw Failure.groupNotFound }
      guard change.timeZone == nil || role == .owner else { throw Failure.notGroupOwner }
      try Self.change(group, change, by: user, at: now, on: db)
    }
  }

  /// The caller holds the group's lock.
  static func change(
    _ group: Group, _ change: GroupChange, by user: UserID, at now: Date, on db: any Connection
  ) throws {
    let zone = change.timeZone ?? group.timeZone
    let row = try db.row(
      """
      update social_group set name = \(change.name ?? group.name),
        description = \(change.description ?? group.description), time_zone = \(zone.name), updated_at = \(now)
      where id = \(group.id) returning \(groupColumns)
      """)
    if change.renewsCode { try renewCode(of: group, at: now, on: db) }
    if let row { GroupEvents.changed(try Group(row), by: user, at: now, on: db) }
  }

  /// Takes the user's name from the groups that they have made.
  static func eraseCreator(_ user: UserID, at now: Date, on db: any Connection) throws {
    let rows = try db.rows(
      """
      update social_group set created_by = null, updated_at = \(now) where created_by = \(user)
      returning \(groupColumns)
      """)
    for row in rows { GroupEvents.changed(try Group(row), by: nil, at: now, on: db) }
  }

  private static func renewCode(of group: Group, at now: Date, on db: any Connection) throws {
    for _ in 0..<codeTriesMax {
      let code = GroupCode.new(isLimited: group.isLimited)
      guard try find(code: code, on: db) == nil else { continue }
      try db.change("update social_group set invite_code = \(code), code_made_at = \(now) where id = \(group.id)")
      return
    }
    throw DatabaseFailure.contended
  }

  /// How many codes are tried until one is free: there are at least a thousand million.
  private static let codeTriesMax = 5

  /// Creates a group with its owner as the only member.
  ///
  /// - Throws: 400 `too_many_groups`.
  static func create(_ draft: NewGroup, on db: any Connection) throws -> Group {
    guard try MembershipStore.reserveGroup(of: draft.owner, isLimited: draft.isLimited, on: db) else {
      throw Failure.tooManyGroups
    }
    let group = try inserted(draft, on: db)
    let member = MembershipID.new(at: draft.createdAt)
    try db.change(
      """
      insert into membership (id, group_id, user_id, role, state, joined_at)
      values (\(member), \(group.id), \(draft.owner), 'owner', 'active', \(draft.createdAt))
      """)
    GroupEvents.created(group, by: draft.owner, on: db)
    GroupEvents.joined(draft.owner, group, as: member, at: draft.createdAt, on: db)
    return group
  }

  private static func inserted(_ draft: NewGroup, on db: any Connection) throws -> Group {
    let seats = draft.isLimited ? Group.memberCountMax : Group.unlimitedMemberCountMax
    for _ in 0..<codeTriesMax {
      let row = try db.row(
        """
        insert into social_group (id, name, description, invite_code, time_zone, member_count, member_count_max,
          created_by, created_at, updated_at, is_limited)
        values (\(draft.id), \(draft.name), \(draft.description),
          \(GroupCode.new(isLimited: draft.isLimited)), \(draft.timeZone.name), 1, \(seats), \(draft.owner),
          \(draft.createdAt), \(draft.createdAt), \(draft.isLimited))
        on conflict (invite_code) do nothing returning \(groupColumns)
        """)
      if let row { return try Group(row) }
    }
    throw DatabaseFailure.contended
  }

  /// Takes the group's lock: other transactions that change its memberships wait until this one ends. nil when there is
  /// no such group, or it has been closed.
  @discardableResult
  static func lock(_ id: GroupID, on db: any Connection) throws -> Group? {
    try db.row(
      """
      update social_group set member_count = member_count where id = \(id) and closed_at is null
      returning \(groupColumns)
      """
    ).map(Group.init)
  }

  /// The group, without taking its lock. nil when there is no such group, or it has been closed.
  static func find(_ id: GroupID, on db: any Connection) throws -> Group? {
    try db.row("select \(groupColumns) from social_group where id = \(id) and closed_at is null").map(Group.init)
  }

  /// The group that has the code, as a user typed it. One look into an index, whatever the text is.
  static func find(code: String, on db: any Connection) throws -> Group? {
    try db.row(
      """
      select \(groupColumns) from social_group
      where invite_code = \(GroupCode.normalized(code)) and closed_at is null
      """
    ).map(Group.init)
  }
}

/// The values of a group to be created.
struct NewGroup: Sendable {
  let id: GroupID
  let owner: UserID
  let name: String
  let description: String?
  let timeZone: TimeZone
  let createdAt: Date
  /// ``Group/isLimited``
  var isLimited = true
}

/// New values of a group's fields. A field that is nil stays as it is.
struct GroupChange: Sendable {
  var name: String?
  /// `.some(nil)` removes the description.
  var description: String??
  var timeZone: TimeZone?
  var renewsCode = false

  var hasChanges: Bool { name != nil || description != nil || timeZone != nil }
}

let groupColumns: SQL = """
  id, name, description, invite_code, time_zone, member_count, member_count_max, created_by, created_at,
    is_limited, code_made_at
  """

extension Group {
  init(_ row: Row) throws {
    id = try row.get("id")
    name = try row.get("name")
    description = try row.optional("description")
    inviteCode = try row.get("invite_code")
    // A name that this machine's time zone database lacks is read as UTC, so that the group stays readable.
    timeZone = TimeZone(identifier: try row.get("time_zone")) ?? .gmt
    memberCount = try row.get("member_count")
    memberCountMax = try row.get("member_count_max")
    createdBy = try row.optional("created_by")
    createdAt = try row.get("created_at")
    isLimited = try row.get("is_limited")
    codeMadeAt = try row.optional("code_made_at")
  }
}
