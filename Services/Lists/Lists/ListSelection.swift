import ClientBodies
import Database
import Foundation
import Wire

/// The lists of a user that a response contains, split into chunks that are read one after another. The set of lists is
/// that of one transaction; the content of each list is that of the moment when its chunk is read.
struct ListSelection: Sendable {
  let chunks: [[Int]]
  let tombstones: [Tombstone]
  let cursor: ListsCursor
  let page: Page?
  let hasMore: Bool?

  private static let (listsMax, membersMax) = (16, 128)

  init(of user: UserID, since: ListsCursor?, _ page: Page?, at now: Date, on db: any Connection) throws {
    let all = try ListStore.revisions(of: user, on: db).map { row in
      (
        id: try row.get("id", as: Int.self), revision: try row.get("revision", as: Int.self),
        members: try row.get("member_count", as: Int.self)
      )
    }
    var shown = all[...]
    if let since { shown = all.filter { since.hasChanged($0.id, at: $0.revision) }[...] }
    let page = since == nil ? page : nil
    if let page { shown = shown.dropFirst(page.offset).prefix(page.size) }
    let missing = since.map { $0.ids.subtracting(all.map(\.id)).sorted() } ?? []
    let deletions = try missing.chunks.reduce(into: [Int: Date]()) { deletions, ids in
      deletions.merge(try ListStore.deletions(of: ids, for: user, on: db)) { $1 }
    }
    tombstones = missing.map { Tombstone(id: $0, deletedAt: deletions[$0] ?? now) }
    self.page = page
    hasMore = page.map { $0.offset + shown.count < all.count }
    cursor = ListsCursor(Dictionary(all.map { ($0.id, $0.revision) }) { $1 })
    chunks = Self.chunks(shown.map { ($0.id, $0.members) })
  }

  private static func chunks(_ lists: [(id: Int, members: Int)]) -> [[Int]] {
    var (chunks, members) = ([[Int]](), 0)
    for list in lists {
      members += list.members
      if let last = chunks.last, last.count < listsMax, members <= membersMax {
        chunks[chunks.count - 1].append(list.id)
      } else {
        chunks.append([list.id])
        members = list.members
      }
    }
    return chunks
  }
}
