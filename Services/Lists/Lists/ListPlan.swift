import Database
import Foundation
import Wire

/// Which of somebody's lists an answer shows, and in which pieces they are read: those of one moment, each as it is when
/// its piece is read.
struct ListPlan: Sendable {
  let pieces: [[Int]]
  let gone: [Tombstone]
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
    if let since { shown = all.filter { since.isNews($0.id, at: $0.revision) }[...] }
    let page = since == nil ? page : nil
    if let page { shown = shown.dropFirst(page.offset).prefix(page.size) }
    let gone = since.map { $0.ids.subtracting(all.map(\.id)).sorted() } ?? []
    let deletions = try gone.pieces.reduce(into: [Int: Date]()) { deletions, ids in
      deletions.merge(try ListStore.deletions(of: ids, for: user, on: db)) { $1 }
    }
    self.gone = gone.map { Tombstone(id: $0, deleted_at: deletions[$0] ?? now) }
    self.page = page
    hasMore = page.map { $0.offset + shown.count < all.count }
    cursor = ListsCursor(Dictionary(all.map { ($0.id, $0.revision) }) { $1 })
    pieces = Self.pieces(shown.map { ($0.id, $0.members) })
  }

  private static func pieces(_ lists: [(id: Int, members: Int)]) -> [[Int]] {
    var (pieces, members) = ([[Int]](), 0)
    for list in lists {
      members += list.members
      if let last = pieces.last, last.count < listsMax, members <= membersMax {
        pieces[pieces.count - 1].append(list.id)
      } else {
        pieces.append([list.id])
        members = list.members
      }
    }
    return pieces
  }
}
