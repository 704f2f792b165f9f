import Database
import RestQueries
import Wire

/// Checkpoints: their hunt's creator changes them while it is a draft.
struct CheckpointWrites: TableWriting {
  func write(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    try Self.requireValid(operation)
    return operation.isInsert
      ? try insert(operation, for: caller, on: db, engine) : try change(operation, for: caller, on: db, engine)
  }

  private func insert(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    var operation = operation
    let named = Self.huntsNamed(in: operation)
    let hunts = named.union(try Self.present(operation, on: db).values.map(\.hunt))
    // A hunt that is not there is refused like one that the caller does not see.
    guard named.isSubset(of: try Hunt.lock(Array(hunts), on: db).map(\.id)) else {
      throw RestFailure.newRowDenied(operation.table.name)
    }
    // Again: until the hunts were locked, others could change them.
    let present = try Self.present(operation, on: db)
    try Self.setOrder(of: &operation, present, on: db)
    let answer = try operation.answer(for: caller, on: db, engine)
    for hunt in named { try Self.requireFew(in: hunt, on: db) }
    let events = HuntEvents(caller: caller, engine: engine)
    try events.checkpointsChanged(answer.changedKeys.filter { present[$0] == nil }, .insert, on: db)
    try events.checkpointsChanged(answer.changedKeys.filter { present[$0] != nil }, .update, on: db)
    return answer
  }

  private func change(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    var operation = operation
    let found = try Self.stored(operation.restrict(for: caller, on: db, engine), on: db)
    _ = try Hunt.lock(Array(Set(found.values.map(\.hunt))), on: db)
    let answer = try operation.answer(for: caller, on: db, engine)
    let events = HuntEvents(caller: caller, engine: engine)
    guard operation.request.method == .delete else {
      try events.checkpointsChanged(answer.changedKeys, .update, on: db)
      return answer
    }
    for key in answer.changedKeys {
      if let hunt = found[key]?.hunt { events.checkpointDeleted(key, of: hunt, on: db) }
    }
    return answer
  }

  /// Few enough to be read together.
  private static let countMax = 1000

  /// After an insert, whose transaction must not be committed when it throws. The hunt is locked.
  ///
  /// - Throws: ``RestQueries/RestFailure`` 400.
  private static func requireFew(in hunt: String, on db: any Connection) throws {
    let row = try db.row("select count(*) as count from hunt_checkpoint where hunt_id = \(ID<Hunt>(hunt))")
    guard try row?.get("count", as: Int.self) ?? 0 <= countMax else {
      throw RestFailure(400, "54000", "There are too many checkpoints of one hunt", details: "at most \(countMax)")
    }
  }

  /// As many characters as a description has.
  private static let locationLengthMax = 10_000

  static func requireValid(_ operation: RestOperation) throws {
    try operation.require("location", "must have a latitude and a longitude", \.isLocation)
    try operation.require("location", "must have at most \(locationLengthMax) characters") { location in
      location.text.unicodeScalars.count <= locationLengthMax
    }
  }

  private static func huntsNamed(in operation: RestOperation) -> Set<String> {
    Set((operation.body?.rows ?? []).compactMap { $0["hunt_id"]?.string.flatMap { ID<Hunt>($0)?.description } })
  }

  private struct StoredCheckpoint {
    let hunt: String
    let orderIndex: Int
  }

  /// The checkpoints that the body names and that are changed by it, as they are there.
  private static func present(
    _ operation: RestOperation, on db: any Connection
  ) throws -> [String: StoredCheckpoint] {
    guard operation.request.method == .put || operation.preferences.resolution != nil else { return [:] }
    return try stored((operation.body?.rows ?? []).compactMap(checkpoint(of:)), on: db)
  }

  private static func checkpoint(of row: [String: JSONTree]) -> String? {
    row["id"]?.string.flatMap { ID<Hunt>($0)?.description }
  }

  private static func stored(_ keys: [String], on db: any Connection) throws -> [String: StoredCheckpoint] {
    try keys.reduce(into: [:]) { found, key in
      let row = try db.row("select hunt_id, order_index from hunt_checkpoint where id = \(ID<Hunt>(key))")
      found[key] = try row.map { row in
        StoredCheckpoint(hunt: try row.get("hunt_id"), orderIndex: try row.get("order_index"))
      }
    }
  }

  /// Those without an `order_index` keep it if they are there, else they come last, in the order of the body.
  private static func setOrder(
    of operation: inout RestOperation, _ present: [String: StoredCheckpoint], on db: any Connection
  ) throws {
    let isOrdered = (operation.body?.rows ?? []).allSatisfy { $0["order_index"] ?? .null != .null }
    guard !isOrdered else { return }
    var next: [String: Int] = [:]
    try operation.body?.set("order_index") { row in
      if let index = row["order_index"], index != .null { return index }
      if let found = checkpoint(of: row).flatMap({ present[$0] }) { return .number(String(found.orderIndex)) }
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

/// The subject of ids of checkpoints.
enum Checkpoint {}
