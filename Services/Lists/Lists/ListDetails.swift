import Database
import Foundation
import Wire

/// A list with the related rows that a response shows: members, tags and the number of overdue tasks.
struct ListDetails: Sendable {
  let list: List
  var members: [Membership]
  var overdueCount: Int
  var tags: [Tag] = []

  /// The users whom the response names.
  var people: Set<UserID> { Set(members.map(\.user)).union([list.owner]) }

  static func one(_ list: List, for user: UserID, at now: Date, on db: any Connection) throws -> ListDetails {
    let queries = [MembershipStore.query(of: list.id), ListStore.overdueQuery(of: list.id, at: now)]
    let found = try db.rows(of: queries + (list.hasTags ? [ListTagStore.query(on: [list.id])] : []))
    return ListDetails(
      list: list, members: try found[0].map { try Membership($0, shownTo: user) },
      overdueCount: try found[1].first?.get("overdue_count") ?? 0, tags: try found.dropFirst(2).joined().map(Tag.init))
  }

  /// How many lists and members a response may contain without being read in chunks.
  static let (listsMax, membersMax) = (64, 512)

  /// All lists of a user, in two queries, without tags; nil when there are more than ``listsMax`` or ``membersMax``.
  static func allIfFew(of user: UserID, at now: Date, on db: any Connection) throws -> [ListDetails]? {
    let found = try db.rows(of: [
      ListStore.allQuery(of: user, at: now, limit: listsMax + 1),
      MembershipStore.queryOfAllLists(of: user, limit: listsMax + 1),
    ])
    guard found[0].count <= listsMax, found[1].count <= membersMax else { return nil }
    return try details(found[0], found[1], for: user)
  }

  /// Those of `ids` that the user owns or is a member of, without tags.
  static func withIDs(_ ids: [Int], of user: UserID, at now: Date, on db: any Connection) throws -> [ListDetails] {
    let found = try db.rows(of: [ListStore.query(ids, for: user, at: now), MembershipStore.query(of: ids)])
    return try details(found[0], found[1], for: user)
  }

  private static func details(_ lists: [Row], _ members: [Row], for user: UserID) throws -> [ListDetails] {
    let members = Dictionary(grouping: try members.map { try Membership($0, shownTo: user) }, by: \.list)
    return try lists.map { row in
      let list = try List(row)
      return ListDetails(list: list, members: members[list.id] ?? [], overdueCount: try row.get("overdue_count"))
    }
  }
}
