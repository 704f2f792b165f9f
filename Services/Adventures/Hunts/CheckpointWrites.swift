import Database
import RestQueries
import Wire

/// Checkpoints: their hunt's creator changes them while it is a draft.
struct CheckpointWrites: TableWriting {
  func write(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    var operation = operation
    try Self.requireValid(operation)
    var hunts: [String: String] = [:]
    let named = operation.isInsert ? Self.huntsNamed(in: operation) : []
    if operation.isInsert {
      // A hunt that is not there is refused like one that the caller does not see.
      guard try Hunt.lock(Array(named), on: db).count == named.count else {
        throw RestFailure.newRowDenied(operation.table.name)
      }
      try Self.setOrder(of: &operation, on: db)
    } else {
      hunts = try Self.hunts(of: operation.restrict(for: caller, on: db, engine), on: db)
      _ = try Hunt.lock(Array(Set(hunts.values)), on: db)
    }
    let answer = try operation.answer(for: caller, on: db, engine)
    for hunt in named { try RowCounts.requireCheckpoints(in: hunt, on: db) }
    let events = HuntEvents(caller: caller, engine: engine)
    if operation.request.method == .delete {
      for key in answer.changedKeys {
        if let hunt = hunts[key] { events.checkpointDeleted(key, of: hunt, on: db) }
      }
    } else {
      try events.checkpointsChanged(answer.changedKeys, operation.request.method.change, on: db)
    }
    return answer
  }

  static func requireValid(_ operation: RestOperation) throws {
    try operation.require("location", "must have a latitude and a longitude", \.isLocation)
  }

  private static func huntsNamed(in operation: RestOperation) -> Set<String> {
    Set((operation.body?.rows ?? []).compactMap { $0["hunt_id"]?.string.flatMap { ID<Hunt>($0)?.description } })
  }

  /// The hunt of each checkpoint.
  private static func hunts(of keys: [String], on db: any Connection) throws -> [String: String] {
    try keys.reduce(into: [:]) { hunts, key in
      let row = try db.row("select hunt_id from hunt_checkpoint where id = \(ID<Hunt>(key))")
      hunts[key] = try row?.get("hunt_id")
    }
  }

  /// Those without an `order_index` come last, in the order of the body.
  private static func setOrder(of operation: inout RestOperation, on db: any Connection) throws {
    let isOrdered = (operation.body?.rows ?? []).allSatisfy { $0["order_index"] ?? .null != .null }
    guard !isOrdered else { return }
    var next: [String: Int] = [:]
    try operation.body?.set("order_index") { row in
      if let index = row["order_index"], index != .null { return index }
      guard let hunt = row["hunt_id"]?.string?.lowercased(), let id = ID<Hunt>(hunt) else { return .null }
      let last = try next[hunt] ?? Self.lastIndex(in: id, on: db)
      next[hunt] = last + 1
      return .number(String(last + 1))
    }
  }

  private static func lastIndex(in hunt: ID<Hunt>, on db: any Connection) throws -> Int {
    let row = try db.row(
      "select order_index from hunt_checkpoint where hunt_id = \(hunt) order by order_index desc limit 1")
    return try row?.get("order_index") ?? -1
  }
}
