import Database
import Foundation
import Wire

/// The tags of lists, in the same way as those of tasks. Most lists have none, so ``List/hasTags`` saves the query.
enum ListTagStore {
  /// The tags of these lists, sorted by name.
  static func query(on lists: [Int]) -> SQL {
    """
    select list_tag.list_id, tag.id, tag.name, tag.color from list_tag join tag on tag.id = list_tag.tag_id
    where list_tag.list_id in (\(list: lists.padded)) order by tag.name_folded, tag.id
    """
  }

  /// The tags of lists that were read in an earlier transaction. A change in between is sent with the next cursor.
  static func tags(of lists: [List], in database: any Database) async throws -> [Int: [Tag]] {
    let tagged = lists.filter(\.hasTags).map(\.id)
    guard !tagged.isEmpty else { return [:] }
    return try await database.readOnce { db in
      try db.rows(of: tagged.chunks.map(query)).joined().reduce(into: [:]) { tags, row in
        tags[try row.get("list_id", as: Int.self), default: []].append(try Tag(row))
      }
    }
  }

  /// Replaces the tags of a new list, or of one that the transaction has locked. Allowed are the user's own tags, and
  /// those that the list already has.
  ///
  /// - Throws: 422 for other tags.
  static func set(_ tags: [Int], on list: Int, by user: UserID, on db: any Connection) throws {
    if !tags.isEmpty {
      let own = try TagStore.lockOwned(tags, of: user, on: db)
      let others = try db.rows(
        """
        select tag.id from list_tag join tag on tag.id = list_tag.tag_id
        where list_tag.list_id = \(list) and tag.id in (\(list: tags.padded)) and tag.user_id <> \(user)
        """)
      guard own + others.count == tags.count else { throw Failure.foreignTags }
    }
    try db.change("delete from list_tag where list_id = \(list)")
    do {
      for tag in tags { try db.change("insert into list_tag (list_id, tag_id) values (\(list), \(tag))") }
    } catch DatabaseFailure.foreignKey {
      // A concurrent request has deleted one of the tags.
      throw DatabaseFailure.contended
    }
  }
}
