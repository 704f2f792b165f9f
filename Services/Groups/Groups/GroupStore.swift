import Database
import Foundation
import Wire

/// Every statement on groups themselves.
struct GroupStore: Sendable {
  let database: any Database

  /// The groups that the user is an active member of, the newest first.
  func sights(of user: UserID, at now: Date) async throws -> [GroupSight] {
    try await database.read { db in try Self.sights(of: user, at: now, on: db) }
  }

  /// - Throws: 404 to strangers, as if it were not there.
  func sight(of id: GroupID, by user: UserID, at now: Date) async throws -> GroupSight {
    guard let sight = try await sights(of: user, at: now).first(where: { $0.group.id == id }) else {
      throw Failure.groupNotFound
    }
    return sight
  }

  /// Whether the user has sent the photo of the group's present day.
  ///
  /// - Throws: 403 `not_a_member` to strangers, whether or not there is such a group.
  func hasSentToday(_ user: UserID, to id: GroupID, at now: Date) async throws -> Bool {
    try await database.read { db in
      let group = try db.row(
        """
        select social_group.* from social_group join membership m on m.group_id = social_group.id
        where social_group.id = \(id) and m.user_id = \(user) and m.state = 'active'
        """
      ).map(Group.init)
      guard let group else { throw Failure.notInGroup }
      return try Self.sentDays(of: user, among: [group.day(at: now)], on: db).contains(Sent(id, group.day(at: now)))
    }
  }

  /// Changes what is given, for a member; the time zone, which moves the day's end, for the owner only.
  ///
  /// - Throws: 404 to strangers.
  func change(_ id: GroupID, _ change: GroupChange, by user: UserID, at now: Date) async throws {
    try await database.write { db in
      guard let group = try Self.locked(id, on: db),
        let role = try MembershipStore.activeRole(of: user, in: id, on: db)
      else { throw Failure.groupNotFound }
      guard change.timeZone == nil || role == .owner else { throw Failure.notGroupOwner }
      let zone = change.timeZone ?? group.timeZone
      try db.change(
        """
        update social_group set name = \(change.name ?? group.name),
          description = \(change.description ?? group.description), time_zone = \(zone.name), updated_at = \(now)
        where id = \(id)
        """)
    }
  }

  /// A new group with its owner as the only member.
  ///
  /// - Throws: 400 `too_many_groups`.
  static func create(_ draft: NewGroup, on db: any Connection) throws -> Group {
    guard try MembershipStore.takePlace(for: draft.owner, on: db) else { throw Failure.tooManyGroups }
    let group = try inserted(draft, on: db)
    try db.change(
      """
      insert into membership (group_id, user_id, role, state, joined_at)
      values (\(group.id), \(draft.owner), 'owner', 'active', \(draft.at))
      """)
    return group
  }

  private static func inserted(_ draft: NewGroup, on db: any Connection) throws -> Group {
    // A code that is taken is drawn again; there are a million million.
    for _ in 0..<5 {
      let row = try db.row(
        """
        insert into social_group (id, name, description, invite_code, time_zone, member_count, member_count_max,
          created_by, created_at, updated_at)
        values (\(draft.id), \(draft.name), \(draft.description), \(GroupWords.newInviteCode()),
          \(draft.timeZone.name), 1, \(Group.memberCountMax), \(draft.owner), \(draft.at), \(draft.at))
        on conflict (invite_code) do nothing returning \(groupColumns)
        """)
      if let row { return try Group(row) }
    }
    throw DatabaseFailure.contended
  }

  /// Takes the group's lock: whoever else changes its memberships waits until this transaction ends. nil when there is no
  /// such group, or it has been closed.
  static func locked(_ id: GroupID, on db: any Connection) throws -> Group? {
    try db.row(
      """
      update social_group set member_count = member_count where id = \(id) and closed_at is null
      returning \(groupColumns)
      """
    ).map(Group.init)
  }

  /// The group without its lock.
  static func open(_ id: GroupID, on db: any Connection) throws -> Group? {
    try db.row("select \(groupColumns) from social_group where id = \(id) and closed_at is null").map(Group.init)
  }
}

/// A group that is to be made.
struct NewGroup: Sendable {
  let id: GroupID
  let owner: UserID
  let name: String
  let description: String?
  let timeZone: TimeZone
  let at: Date
}

/// What is to be different about a group; nil leaves it as it is.
struct GroupChange: Sendable {
  var name: String?
  /// An empty one is none.
  var description: String??
  var timeZone: TimeZone?

  var hasAny: Bool { name != nil || description != nil || timeZone != nil }
}

private let groupColumns: SQL = """
  id, name, description, invite_code, time_zone, member_count, member_count_max, created_by, created_at
  """

extension Group {
  init(_ row: Row) throws {
    id = try row.get("id")
    name = try row.get("name")
    description = try row.optional("description")
    inviteCode = try row.get("invite_code")
    // A zone that this machine does not know any more is better read as UTC than not at all.
    timeZone = TimeZone(identifier: try row.get("time_zone")) ?? .gmt
    memberCount = try row.get("member_count")
    memberCountMax = try row.get("member_count_max")
    createdBy = try row.optional("created_by")
    createdAt = try row.get("created_at")
  }
}
