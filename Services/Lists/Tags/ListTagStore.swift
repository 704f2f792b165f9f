import Database
import Foundation
import Wire

/// The tags that lists have, as tasks have them. Most lists have none, so what is asked for often asks for none.
enum ListTagStore {
  /// For what is on lists, by name.
  static func query(on lists: [Int]) -> SQL {
    """
    select o.list_id, g.id, g.name, g.color from list_tag o join tag g on g.id = o.tag_id
    where o.list_id in (\(list: lists.padded)) order by g.name_folded, g.id
    """
  }

  /// Those of several lists, which have been read a moment before: what has changed since comes with the next cursor.
  static func tags(of lists: [List], in database: any Database) async throws -> [Int: [Tag]] {
    let tagged = lists.filter(\.hasTags).map(\.id)
    guard !tagged.isEmpty else { return [:] }
    return try await database.readOnce { db in
      try db.rows(of: tagged.pieces.map(query)).joined().reduce(into: [:]) { tags, row in
        tags[try row.get("list_id", as: Int.self), default: []].append(try Tag(row))
      }
    }
  }

  /// The tags that a list which is held, or new, has from now on: those of the user's own, and any that it has already.
  ///
  /// - Throws: 422 for others.
  static func set(_ tags: [Int], on list: Int, by user: UserID, on db: any Connection) throws {
    if !tags.isEmpty {
      let own = try TagStore.held(tags, of: user, on: db)
      let others = try db.rows(
        """
        select g.id from list_tag o join tag g on g.id = o.tag_id
        where o.list_id = \(list) and g.id in (\(list: tags.padded)) and g.user_id <> \(user)
        """)
      guard own + others.count == tags.count else { throw Failure.invalid(.init("tag_ids", "must be tags of yours")) }
    }
    try db.change("delete from list_tag where list_id = \(list)")
    do {
      for tag in tags { try db.change("insert into list_tag (list_id, tag_id) values (\(list), \(tag))") }
    } catch DatabaseFailure.foreignKey {
      // Somebody has deleted theirs since.
      throw DatabaseFailure.contended
    }
  }
}
