import Database
import Foundation
import Wire

/// Every statement on the members of lists, each within a transaction that holds the list where it changes something.
enum MembershipStore {
  /// The longest-standing first.
  static func members(of list: Int, on db: any Connection) throws -> [Membership] {
    try db.rows(query(of: list)).map(Membership.init)
  }

  static func query(of list: Int) -> SQL {
    "select \(membershipColumns) from membership m where m.list_id = \(list) order by m.id"
  }

  /// For everybody in the lists that somebody is in.
  static func queryOfAllLists(of user: UserID) -> SQL {
    """
    select \(membershipColumns) from membership m where m.list_id in (
      select id from list where owner_id = \(user) and deleted_at is null
      union all select j.list_id from membership j join list l on l.id = j.list_id
        where j.user_id = \(user) and l.deleted_at is null) order by m.list_id, m.id
    """
  }

  static func membership(of user: UserID, in list: Int, on db: any Connection) throws -> Membership? {
    try db.row("select \(membershipColumns) from membership m where m.list_id = \(list) and m.user_id = \(user)")
      .map(Membership.init)
  }

  /// Whether somebody is the owner or a member.
  static func isIn(_ list: Int, _ user: UserID, on db: any Connection) throws -> Bool {
    let row = try db.row(
      """
      select id from list where id = \(list) and owner_id = \(user)
      union all select id from membership where list_id = \(list) and user_id = \(user)
      """)
    return row != nil
  }

  /// - Throws: 404 when the list has no such member.
  static func membership(_ id: Int, in list: Int, on db: any Connection) throws -> Membership {
    let row = try db.row("select \(membershipColumns) from membership m where m.list_id = \(list) and m.id = \(id)")
    guard let row else { throw Failure.membershipNotFound }
    return try Membership(row)
  }

  /// nil when they are a member already, and then nothing has changed.
  ///
  /// - Throws: 409 when the list is full, or they are in as many as one person can be in. The latter is not exact when
  ///   several let them in at the very same time: it only keeps what others can put upon somebody within bounds.
  static func add(
    _ user: UserID, to list: Int, as role: Role, invite: String? = nil, at now: Date, on db: any Connection
  ) throws -> Membership? {
    let row = try db.row(
      """
      insert into membership (list_id, user_id, role, invite_id, created_at, updated_at)
      values (\(list), \(user), \(role.rawValue), \(invite), \(now), \(now))
      on conflict (list_id, user_id) do nothing returning id
      """)
    guard let row else { return nil }
    let joined = try db.rows(
      """
      select m.list_id from membership m join list l on l.id = m.list_id
      where m.user_id = \(user) and l.deleted_at is null limit \(List.joinedMax + 1)
      """)
    guard joined.count <= List.joinedMax else { throw Failure.inTooManyLists }
    let seated = try db.change(
      """
      update list set member_count = member_count + 1, version = revision
      where id = \(list) and member_count < \(List.membersMax)
      """)
    guard seated == 1 else { throw Failure.listFull }
    try Removals.forget(user, from: list, on: db)
    return Membership(
      id: try row.get("id"), list: list, user: user, role: role, invite: invite, createdAt: now.wholeMilliseconds,
      updatedAt: now.wholeMilliseconds)
  }

  static func change(_ membership: Membership, to role: Role, at now: Date, on db: any Connection) throws {
    try db.change("update membership set role = \(role.rawValue), updated_at = \(now) where id = \(membership.id)")
    try db.change("update list set version = revision where id = \(membership.list)")
    if role == .viewer { try TagStore.takeAway(from: membership.list, of: membership.user, on: db) }
  }

  /// What was theirs to do in the list is nobody's then, and their tags are on nothing there.
  static func remove(_ membership: Membership, on db: any Connection) throws {
    let removed = try db.change("delete from membership where id = \(membership.id)")
    try db.change(
      "update list set member_count = member_count - \(removed), version = revision where id = \(membership.list)")
    try db.change(
      """
      update task set assignee_id = null, revision = (select revision from list where id = \(membership.list))
      where list_id = \(membership.list) and assignee_id = \(membership.user)
      """)
    try TagStore.takeAway(from: membership.list, of: membership.user, on: db)
  }
}

private let membershipColumns: SQL = "m.id, m.list_id, m.user_id, m.role, m.invite_id, m.created_at, m.updated_at"

extension Membership {
  init(_ row: Row) throws {
    self.init(
      id: try row.get("id"), list: try row.get("list_id"), user: try row.get("user_id"), role: try Role(row),
      invite: try row.optional("invite_id"), createdAt: try row.get("created_at"), updatedAt: try row.get("updated_at"))
  }
}
