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
    let hunts = try Self.hunts(of: operation, for: caller, on: db, engine)
    _ = try Hunt.lock(hunts, on: db)
    if operation.isInsert {
      try Self.setOrder(of: &operation, on: db)
    }
    let answer = try operation.answer(for: caller, on: db, engine)
    let events = HuntEvents(caller: caller, engine: engine)
    if operation.request.method == .delete {
      for hunt in hunts where !answer.changedKeys.isEmpty { events.checkpointsChanged(hunt, on: db) }
    } else {
      try events.checkpointsChanged(answer.changedKeys, operation.request.method.change, on: db)
    }
    return answer
  }

  static func requireValid(_ operation: RestOperation) throws {
    try operation.require("location", "must have a latitude and a longitude", \.isLocation)
  }

  /// The hunts whose checkpoints may change.
  private static func hunts(
    of operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> [String] {
    if operation.isInsert {
      return Array(Set((operation.body?.rows ?? []).compactMap { $0["hunt_id"]?.string?.lowercased() }))
    }
    let keys = try operation.keys(for: caller, on: db, engine)
    let rows = try keys.compactMap { key in
      try db.row("select hunt_id from hunt_checkpoint where id = \(ID<Hunt>(key))")
    }
    return Array(Set(try rows.map { try $0.get("hunt_id", as: String.self) }))
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
