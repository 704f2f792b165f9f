import Database
import Foundation
import Wire

/// All statements on the `membership` table. Statements that change rows run in a transaction that has locked the list.
enum MembershipStore {
  /// In the order of joining.
  static func members(of list: Int, on db: any Connection) throws -> [Membership] {
    try db.rows(query(of: list)).map { try Membership($0) }
  }

  static func query(of list: Int) -> SQL {
    "select \(membershipColumns) from membership where list_id = \(list) order by id"
  }

  static func query(of lists: [Int]) -> SQL {
    """
    select \(membershipColumns) from membership where list_id in (\(list: lists.padded)) order by list_id, id
    """
  }

  /// The members of all lists that a user owns or is a member of; at most `limit` lists.
  static func queryOfAllLists(of user: UserID, limit: Int) -> SQL {
    """
    select \(membershipColumns) from membership where list_id in (select id from (
      select id from list where owner_id = \(user) and deleted_at is null
      union all select joined.list_id from membership joined join list on list.id = joined.list_id
        where joined.user_id = \(user) and list.deleted_at is null) mine limit \(limit)) order by list_id, id
    """
  }

  static func membership(of user: UserID, in list: Int, on db: any Connection) throws -> Membership? {
    try db.row("select \(membershipColumns) from membership where list_id = \(list) and user_id = \(user)")
      .map { try Membership($0) }
  }

  /// nil for a non-member.
  static func role(of user: UserID, in list: Int, on db: any Connection) throws -> ListRole? {
    if try db.row("select id from list where id = \(list) and owner_id = \(user)") != nil { return .owner }
    return try membership(of: user, in: list, on: db)?.role
  }

  /// The owner and the members.
  static func users(in list: Int, on db: any Connection) throws -> Set<UserID> {
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
    let row = try db.row("select \(membershipColumns) from membership where list_id = \(list) and id = \(id)")
    guard let row else { throw Failure.membershipNotFound }
    return try Membership(row, shownTo: user)
  }

  /// Adds a member. Returns nil, and changes nothing, when the user is a member already.
  ///
  /// - Parameters:
  ///   - enteredEmail: the e-mail address by which they are added, and by whom.
  ///   - adder: who adds them; nil for a user who joins by themselves.
  /// - Throws: 409 when the list is full, or the user is in ``List/joinedMax`` lists. The latter is not exact when the
  ///   user is added to several lists concurrently: it only bounds the number.
  static func add(
    _ user: UserID, to list: Int, as role: ListRole, invite: String? = nil, enteredEmail entered: EnteredEmail? = nil,
    by adder: UserID? = nil, at now: Date, on db: any Connection
  ) throws -> Membership? {
    let row = try db.row(
      """
      insert into membership (list_id, user_id, role, invite_id, named_by, named_as, created_at, updated_at)
      values (\(list), \(user), \(role.rawValue), \(invite), \(entered?.by), \(entered?.email), \(now), \(now))
      on conflict (list_id, user_id) do nothing returning id
      """)
    guard let row else { return nil }
    let joined = try db.rows(
      """
      select membership.list_id from membership join list on list.id = membership.list_id
      where membership.user_id = \(user) and list.deleted_at is null limit \(List.joinedMax + 1)
      """)
    guard joined.count <= List.joinedMax else { throw Failure.inTooManyLists }
    let counted = try db.change(
      """
      update list set member_count = member_count + 1, version = revision
      where id = \(list) and member_count < \(List.membersMax)
      """)
    guard counted == 1 else { throw Failure.listFull }
    try DepartureStore.delete(user, from: list, on: db)
    let membership = Membership(
      id: try row.get("id"), list: list, user: user, role: role, invite: invite, createdAt: now.wholeMilliseconds,
      updatedAt: now.wholeMilliseconds, enteredEmail: entered?.email)
    try ListEvents.joined(membership, addedBy: adder, at: now, on: db)
    return membership
  }

  /// Changes the role. A member who becomes a viewer loses their tags on the list and its tasks.
  static func change(_ membership: Membership, to role: ListRole, at now: Date, on db: any Connection) throws {
    try db.change("update membership set role = \(role.rawValue), updated_at = \(now) where id = \(membership.id)")
    try db.change("update list set version = revision where id = \(membership.list)")
    if role == .viewer { try TagStore.removeTags(from: membership.list, of: membership.user, on: db) }
    ListEvents.roleChanged(membership, to: role, at: now, on: db)
  }

  /// Removes a member, unassigns their tasks, and removes their tags from the list and its tasks.
  ///
  /// - Parameter remover: the member when they leave.
  static func remove(_ membership: Membership, by remover: UserID, at now: Date, on db: any Connection) throws {
    ListEvents.left(membership, by: remover, at: now, on: db)
    let removed = try db.change("delete from membership where id = \(membership.id)")
    try db.change(
      "update list set member_count = member_count - \(removed), version = revision where id = \(membership.list)")
    let unassigned = try db.rows(
      """
      update task set assignee_id = null, revision = (select revision from list where id = \(membership.list))
      where list_id = \(membership.list) and assignee_id = \(membership.user) returning id
      """
    ).map { try $0.get("id", as: Int.self) }
    try TagStore.removeTags(from: membership.list, of: membership.user, on: db)
    let rows = try TaskRows.updates(of: unassigned, on: db)[membership.list] ?? []
    TaskEvents.changed(rows, of: membership.list, by: remover, at: now, on: db)
  }
}

private let membershipColumns: SQL = """
  id, list_id, user_id, role, invite_id, named_by, named_as, created_at, updated_at
  """

extension Membership {
  init(_ row: Row) throws {
    self.init(
      id: try row.get("id"), list: try row.get("list_id"), user: try row.get("user_id"),
      role: try row.enumValue("role"), invite: try row.optional("invite_id"),
      createdAt: try row.get("created_at"), updatedAt: try row.get("updated_at"))
  }

  /// The same for a response to `user`, who sees the e-mail addresses that they have entered themselves.
  init(_ row: Row, shownTo user: UserID) throws {
    try self.init(row)
    if try row.optional("named_by") == user { enteredEmail = try row.optional("named_as") }
  }
}

/// An e-mail address by which a user adds another one to a list; stored in the columns `named_by` and `named_as`.
struct EnteredEmail: Sendable {
  let by: UserID
  let email: String
}
