import Database
import Foundation
import RestQueries
import Web
import Wire

/// What this service has of a user, as one JSON object with an array of rows for each table. It is read and written a
/// page at a time: all rows together may be more than fits into memory.
struct PersonalDataExport: Sendable {
  /// One of the arrays.
  struct Section: Sendable {
    let name: String
    let pageSize: Int
    /// The rows behind the one with this key, in the order of their keys, at most a page.
    let page: @Sendable (_ last: String?) async throws -> [ExportedRow]
  }

  private let database: any Database
  private let caller: RestQueries.Caller

  init(of user: UserID, in database: any Database, at now: Date) {
    self.database = database
    caller = RestQueries.Caller(user, at: now)
  }

  /// In the order of their names.
  var sections: [Section] {
    [
      own(AdventureTables.plans),
      Section(name: AdventureTables.submissions.name, pageSize: QueryBounds.rowsMax, page: submissions),
      own(AdventureTables.shares),
      Section(name: AdventureTables.participants.name, pageSize: QueryBounds.rowsMax, page: participations),
      own(AdventureTables.places),
      // One by one, as each has its checkpoints with it.
      Section(name: AdventureTables.hunts.name, pageSize: 1) { last in
        let found = try await rows(of: AdventureTables.hunts, "created_by=eq.\(caller.id)", after: last, limit: 1)
        return if let hunt = found.first { [try await withCheckpoints(hunt)] } else { [] }
      },
    ]
  }
}

/// The rows of the tables as their owner sees them.
extension PersonalDataExport {
  private func own(_ table: Table) -> Section {
    Section(name: table.name, pageSize: table.pageSize) { last in
      try await rows(of: table, "user_id=eq.\(caller.id)", after: last, limit: table.pageSize)
    }
  }

  /// They may be more than an answer can have.
  private func withCheckpoints(_ hunt: ExportedRow) async throws -> ExportedRow {
    let table = AdventureTables.checkpoints
    var checkpoints: [JSONTree] = []
    var page: [ExportedRow] = []
    repeat {
      page = try await rows(of: table, "hunt_id=eq.\(hunt.key)", after: page.last?.key, limit: table.pageSize)
      checkpoints += page.map(\.tree)
    } while page.count == table.pageSize
    guard case .object(let members) = hunt.tree else { return hunt }
    let member = JSONTree.Member(name: table.name, value: .array(checkpoints))
    return ExportedRow(key: hunt.key, tree: .object(members + [member]))
  }

  private func rows(
    of table: Table, _ condition: String, after last: String?, limit: Int
  ) async throws -> [ExportedRow] {
    let rest = last.map { "&id=gt.\($0)" } ?? ""
    let request = RestRequest(.get, table.name, query: "\(condition)\(rest)&limit=\(limit)")
    let answer = try await AdventureTables.schema.answer(request, for: caller, in: database)
    // What is stored is as deep as a body may be, and deeper in an answer.
    let nestingMax = 2 * JSONReader.nestingMax
    guard case .array(let rows) = try JSONReader.tree(of: answer.body, nestingMax: nestingMax) else { return [] }
    return try rows.map { row in
      guard let key = row["id"]?.string else { throw Failure.broken }
      return ExportedRow(key: key, tree: row)
    }
  }
}

/// The rows of which their owner does not see all: those in hunts of others.
extension PersonalDataExport {
  @Sendable private func participations(after last: String?) async throws -> [ExportedRow] {
    let user = caller.id
    let isLater: SQL = last.map { " and hunt_id > \(ID<Hunt>($0))" } ?? ""
    return try await database.readOnce { db in
      try db.rows(
        """
        select id, hunt_id, group_id, joined_at from hunt_participant where user_id = \(user)\(isLater)
        order by hunt_id limit \(QueryBounds.rowsMax)
        """
      ).map { row in
        let hunt = try row.get("hunt_id", as: String.self)
        return ExportedRow(
          key: hunt,
          [
            "id": .string(try row.get("id")), "hunt_id": .string(hunt), "group_id": try row.text("group_id"),
            "joined_at": .time(try row.get("joined_at")),
          ])
      }
    }
  }

  @Sendable private func submissions(after last: String?) async throws -> [ExportedRow] {
    let user = caller.id
    let isLater: SQL = last.map { " and checkpoint_id > \(ID<Checkpoint>($0))" } ?? ""
    return try await database.readOnce { db in
      try db.rows(
        """
        select id, checkpoint_id, photo_url, submitted_at, verified from checkpoint_submission
        where user_id = \(user)\(isLater) order by checkpoint_id limit \(QueryBounds.rowsMax)
        """
      ).map { row in
        let checkpoint = try row.get("checkpoint_id", as: String.self)
        return ExportedRow(
          key: checkpoint,
          [
            "id": .string(try row.get("id")), "checkpoint_id": .string(checkpoint),
            "photo_url": try row.text("photo_url"),
            "submitted_at": .time(try row.get("submitted_at")), "verified": .bool(try row.get("verified")),
          ])
      }
    }
  }
}

/// A row with what it is found by.
struct ExportedRow: Sendable {
  let key: String
  let tree: JSONTree

  init(key: String, tree: JSONTree) {
    self.key = key
    self.tree = tree
  }

  init(key: String, _ members: KeyValuePairs<String, JSONTree>) {
    self.init(key: key, tree: .object(members.map { JSONTree.Member(name: $0.key, value: $0.value) }))
  }
}

extension Row {
  fileprivate func text(_ column: String) throws -> JSONTree {
    try optional(column, as: String.self).map { .string($0) } ?? .null
  }
}

extension JSONTree {
  fileprivate static func time(_ time: Date) -> JSONTree { .string(RFC3339.seconds(time)) }
}
