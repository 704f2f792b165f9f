import Database
import Foundation
import Wire

/// A page of a list.
struct Page: Sendable {
  let number: Int
  let size: Int

  /// Lists are counted and turned over up to here, so that no request reads more.
  static let rowsMax = 10_000

  var offset: Int { min((number - 1) * size, Self.rowsMax) }
  /// How many rows of a list it takes to have this page.
  var end: Int { min(offset + size, Self.rowsMax) }
}

/// Pages of timepoints, the newest first, and how many there are, up to ``Page/rowsMax``.
enum TimepointLists {
  struct Filter: Sendable {
    var status: Timepoint.Status?
    var visibility: Timepoint.Visibility?
  }

  /// What a viewer may see: the public ones that are completed, and the viewer's own.
  static func visible(
    to viewer: Viewer, _ filter: Filter, _ page: Page, on db: any Connection
  ) throws -> (items: [Timepoint], total: Int) {
    guard let ids = listed(to: viewer, filter) else { return ([], 0) }
    let statement: SQL = """
      select \(TimepointStore.columns) from timepoint where id in (
        select id from (\(ids(page.end))) listed order by created_at desc, id desc
        limit \(page.end - page.offset) offset \(page.offset))
      order by created_at desc, id desc
      """
    let count: SQL = "select count(*) as total from (\(ids(Page.rowsMax))) listed"
    let total: Int = try db.row(count)?.get("total") ?? 0
    return (try db.rows(statement).map(Timepoint.init), min(Page.rowsMax, total))
  }

  /// The statement that returns the newest ids and times that match; nil when nothing does.
  private static func listed(to viewer: Viewer, _ filter: Filter) -> ((_ limit: Int) -> SQL)? {
    let showsPublic = filter.visibility != .private && (filter.status ?? .completed) == .completed
    let status: SQL = filter.status.map { " and status = \($0.rawValue)" } ?? ""
    let visibility: SQL = filter.visibility.map { " and visibility = \($0.rawValue)" } ?? ""
    // Those of both kinds are in the first part.
    let others: SQL = showsPublic ? " and not (visibility = 'public' and status = 'completed')" : ""
    guard showsPublic || viewer.user != nil else { return nil }
    return { limit in
      let publicPart: SQL = """
        select * from (select id, created_at from timepoint
          where visibility = 'public' and status = 'completed' and deleted_at is null
          order by created_at desc, id desc limit \(limit)) published
        """
      guard let user = viewer.user else { return publicPart }
      let ownPart: SQL = """
        select * from (select id, created_at from timepoint
          where owner_id = \(user) and deleted_at is null\(status)\(visibility)\(others)
          order by created_at desc, id desc limit \(limit)) own
        """
      return showsPublic ? "\(publicPart) union all \(ownPart)" : ownPart
    }
  }

  /// A user's own, whatever their visibility.
  static func own(
    of user: UserID, status: Timepoint.Status?, _ page: Page, on db: any Connection
  ) throws -> (items: [Timepoint], total: Int) {
    let matching: SQL = status.map { " and status = \($0.rawValue)" } ?? ""
    let rows = try db.rows(
      """
      select \(TimepointStore.columns) from timepoint where owner_id = \(user) and deleted_at is null\(matching)
      order by created_at desc, id desc limit \(page.end - page.offset) offset \(page.offset)
      """)
    let count = try db.row(
      """
      select count(*) as total from (select id from timepoint
        where owner_id = \(user) and deleted_at is null\(matching) limit \(Page.rowsMax)) listed
      """)
    return (try rows.map(Timepoint.init), try count?.get("total") ?? 0)
  }

  /// All of a user, also those that are marked as deleted, in parts: those after `id`.
  static func all(of user: UserID, after id: TimepointID?, limit: Int, on db: any Connection) throws -> [Timepoint] {
    let start: SQL = id.map { " and id > \($0)" } ?? ""
    return try db.rows(
      "select \(TimepointStore.columns) from timepoint where owner_id = \(user)\(start) order by id limit \(limit)"
    ).map(Timepoint.init)
  }

  /// The generations that have failed, the latest first.
  static func failed(limit: Int, on db: any Connection) throws -> [Timepoint] {
    try db.rows(
      """
      select \(TimepointStore.columns) from timepoint where status = 'failed' order by ended_at desc, id desc
      limit \(limit)
      """
    ).map(Timepoint.init)
  }
}
