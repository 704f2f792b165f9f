import Database
import Foundation
import Wire

/// Every statement on the members of lists, each within a transaction that holds the list where it changes something.
enum MembershipStore {
  /// The longest-standing first.
  static func members(of list: Int, on db: any Connection) throws -> [Membership] {
    try db.rows(query(of: list)).map { try Membership($0) }
  }

  static func query(of list: Int) -> SQL {
    "select \(membershipColumns) from membership m where m.list_id = \(list) order by m.id"
  }

  static func query(of lists: [Int]) -> SQL {
    """
    select \(membershipColumns) from membership m where m.list_id in (\(list: lists.padded)) order by m.list_id, m.id
    """
  }

  /// For everybody in the lists that somebody is in, at most so many lists.
  static func queryOfAllLists(of user: UserID, limit: Int) -> SQL {
    """
    select \(membershipColumns) from membership m where m.list_id in (select id from (
      select id from list where owner_id = \(user) and deleted_at is null
      union all select j.list_id from membership j join list l on l.id = j.list_id
        where j.user_id = \(user) and l.deleted_at is null) mine limit \(limit)) order by m.list_id, m.id
    """
  }

  static func membership(of user: UserID, in list: Int, on db: any Connection) throws -> Membership? {
    try db.row("select \(membershipColumns) from membership m where m.list_id = \(list) and m.user_id = \(user)")
      .map { try Membership($0) }
  }

  /// nil for a stranger.
  static func role(of user: UserID, in list: Int, on db: any Connection) throws -> Role? {
    if try db.row("select id from list where id = \(list) and owner_id = \(user)") != nil { return .owner }
    return try membership(of: user, in: list, on: db)?.role
  }

  /// The owner and the members.
  static func everybody(in list: Int, on db: any Connection) throws -> Set<UserID> {
    let rows = try db.rows(
      """
      select owner_id as user_id from list where id = \(list)
      union all select user_id from membership where list_id = \(list)
      """)
    return Set(try rows.map { try $0.get("user_id") })
  }

  /// - Throws: 404 when the list has no such member.
  static func membership(
    _ id: Int, in list: Int, shownTo user: UserID, on db: any Connection
  ) throws -> Membership {
    let row = try db.row("select \(membershipColumns) from membership m where m.list_id = \(list) and m.id = \(id)")
    guard let row else { throw Failure.membershipNotFound }
    return try Membership(row, shownTo: user)
  }

  /// nil when they are a member already, and then nothing has changed.
  ///
  /// - Throws: 409 when the list is full, or they are in as many as one person can be in. The latter is not exact when
  ///   several let them in at the very same time: it only keeps what others can put upon somebody within bounds.
  ///
  /// - Parameter naming: who lets them in by their e-mail address, and how they wrote it.
  static func add(
    _ user: UserID, to list: Int, as role: Role, invite: String? = nil, naming: Written? = nil, at now: Date,
    on db: any Connection
  ) throws -> Membership? {
    let row = try db.row(
      """
      insert into membership (list_id, user_id, role, invite_id, named_by, named_as, created_at, updated_at)
      values (\(list), \(user), \(role.rawValue), \(invite), \(naming?.by), \(naming?.email), \(now), \(now))
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
      updatedAt: now.wholeMilliseconds, namedAs: naming?.email)
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

private let membershipColumns: SQL = """
  m.id, m.list_id, m.user_id, m.role, m.invite_id, m.named_by, m.named_as, m.created_at, m.updated_at
  """

extension Membership {
  init(_ row: Row) throws {
    self.init(
      id: try row.get("id"), list: try row.get("list_id"), user: try row.get("user_id"), role: try Role(row),
      invite: try row.optional("invite_id"), createdAt: try row.get("created_at"), updatedAt: try row.get("updated_at"))
  }

  /// The same for an answer to somebody, who sees the addresses that they have written themselves.
  init(_ row: Row, shownTo user: UserID) throws {
    try self.init(row)
    if try row.optional("named_by") == user { namedAs = try row.optional("named_as") }
  }
}

/// An e-mail address that somebody has written to let another in.
struct Written: Sendable {
  let by: UserID
  let email: String
}
