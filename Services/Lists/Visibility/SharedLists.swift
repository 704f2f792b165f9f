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
        union all select j.list_id from membership j join list l on l.id = j.list_id
          where j.user_id = \(user) and l.deleted_at is null)
      select l.owner_id as user_id from list l where l.id in (select id from mine)
      union select m.user_id from membership m where m.list_id in (select id from mine)
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
        union all select j.list_id from membership j join list l on l.id = j.list_id
          where j.user_id = \(user) and l.deleted_at is null)
      select l.owner_id as user_id from list l
        where l.id in (select id from mine) and l.owner_id in (\(list: others))
      union select m.user_id from membership m
        where m.list_id in (select id from mine) and m.user_id in (\(list: others))
      """)
    return Set(try rows.map { try $0.get("user_id") })
  }
}
