import Database
import EventFeed
import RestQueries
import Wire

/// Rows as clients of `postgres_changes` receive them.
enum ChangedRows {
  /// The rows that a write has changed, which its answer may have already.
  static func records(
    of operation: RestOperation, _ answer: RestAnswer, for caller: RestQueries.Caller, on db: any Connection,
    _ engine: Engine
  ) throws -> [[String: JSONValue]] {
    // The answer has a bound of rows, and a change has none.
    let hasAll = operation.answersWithWholeRows && answer.changedKeys.count <= QueryBounds.rowsMax
    guard EventFeed.isRecording(on: db), hasAll else {
      return try records(of: operation.table, answer.changedKeys, for: caller, on: db, engine)
    }
    return try rows(in: answer)
  }

  /// The rows with these ids as their owner sees them; nothing where no events are recorded.
  ///
  /// - Throws: ``RestQueries/RestFailure`` 54000 when they are too large to be in events: nothing is changed.
  static func records(
    of table: Table, _ keys: [String], for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> [[String: JSONValue]] {
    guard EventFeed.isRecording(on: db) else { return [] }
    var records: [[String: JSONValue]] = []
    var bytes = 0
    for start in stride(from: 0, to: keys.count, by: table.pageSize) {
      let ids = keys[start..<min(start + table.pageSize, keys.count)].joined(separator: ",")
      let request = RestRequest(.get, table.name, query: "id=in.(\(ids))")
      let answer = try RestOperation(request, in: AdventureTables.schema).answer(for: caller, on: db, engine)
      bytes += answer.body.count
      guard bytes <= QueryBounds.answerBytesMax else { throw RestFailure.changeTooLarge }
      records += try rows(in: answer)
    }
    return records
  }

  private static func rows(in answer: RestAnswer) throws -> [[String: JSONValue]] {
    // What is stored is as deep as a body may be, and deeper in an answer.
    let nestingMax = 2 * JSONReader.nestingMax
    guard case .array(let rows) = try JSONReader.tree(of: answer.body, nestingMax: nestingMax) else { return [] }
    return rows.map { row in
      if case .object(let members) = JSONValue(row) { members } else { [:] }
    }
  }

  /// - Parameter record: with its `id`.
  static func change(_ table: Table, _ type: RowChange.Kind, _ record: [String: JSONValue]) -> EventChange {
    .of(table.name, type, key: ["id": record["id"] ?? .null], EventFields(record.filter { $0.key != "id" }))
  }

  static func deletion(_ table: Table, _ key: String) -> EventChange {
    .of(table.name, .delete, key: ["id": key])
  }
}

extension RestFailure {
  static let changeTooLarge = RestFailure(
    400, "54000", "The request changes too much",
    details: "The changed rows have more than \(QueryBounds.answerBytesMax) bytes.",
    hint: "Name fewer rows, or add a limit.")
}

extension RestRequest.Method {
  /// Whether rows were inserted, changed or deleted.
  var change: RowChange.Kind {
    switch self {
    case .delete: .delete
    case .patch: .update
    default: .insert
    }
  }
}

extension EventTopic {
  static func savedPlaces(_ user: UserID) -> String { "saved_places:\(user)" }
  static func adventures(_ user: UserID) -> String { "adventures:\(user)" }
  static func etaShares(_ user: UserID) -> String { "eta_shares:\(user)" }
  static func hunt(_ id: String) -> String { "scavenger_hunts:\(id)" }
  /// What is submitted in a hunt, which not everybody sees who sees the hunt.
  static func submissions(_ hunt: String) -> String { "checkpoint_submissions:\(hunt)" }
}
