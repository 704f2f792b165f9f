import Database
import Foundation
import Wire

/// Queries for users who share a list.
enum SharedLists {
  private static let peopleMax = 2000

  /// All users who share a list with `user`, including `user`; at most ``peopleMax``, which bounds the calls to auth.
  static func people(with user: UserID, on db: any Connection) throws -> Set<UserID> {
    let rows = try db.rows(
      """
      with mine as (
        select id from list where owner_id = \(user) and deleted_at is null
        union all select membership.list_id from membership join list on list.id = membership.list_id
          where membership.user_id = \(user) and list.deleted_at is null)
      select list.owner_id as user_id from list where list.id in (select id from mine)
      union select membership.user_id from membership where membership.list_id in (select id from mine)
      order by user_id limit \(peopleMax)
      """)
    return Set(try rows.map { try $0.get("user_id") })
  }

  /// Those of `others` who share a list with `user`, in one query.
  static func people(with user: UserID, among others: Set<UserID>, on db: any Connection) throws -> Set<UserID> {
    let others = others.sorted { $0.description < $1.description }.padded
    let rows = try db.rows(
      """
      with mine as (
        select id from list where owner_id = \(user) and deleted_at is null
        union all select membership.list_id from membership join list on list.id = membership.list_id
          where membership.user_id = \(user) and list.deleted_at is null)
      select list.owner_id as user_id from list
        where list.id in (select id from mine) and list.owner_id in (\(list: others))
      union select membership.user_id from membership
        where membership.list_id in (select id from mine) and membership.user_id in (\(list: others))
      """)
    return Set(try rows.map { try $0.get("user_id") })
  }
}
