import Database
import Foundation
import RestQueries
import Wire

/// The `checkpoints` of a body that makes a hunt: they are inserted as a body of their own table.
struct NestedCheckpoints {
  let rows: [JSONTree]

  static let countMax = 200
  /// Of all hunts in a body.
  private static let totalMax = 1000

  /// Those without an `order_index` have their place in the array.
  ///
  /// - Throws: ``RestQueries/RestFailure`` 400 for anything but an array of objects.
  init(_ tree: JSONTree?, hunt: JSONTree) throws {
    guard let tree, tree != .null else {
      rows = []
      return
    }
    guard case .array(let elements) = tree, elements.count <= Self.countMax else {
      throw RestFailure.invalid(
        "checkpoints", "must be an array of at most \(Self.countMax) objects", in: "scavenger_hunts")
    }
    rows = try elements.enumerated().map { index, element in
      guard case .object(let members) = element else {
        throw RestFailure.invalid("checkpoints", "must be an array of objects", in: "scavenger_hunts")
      }
      let known = members.filter { Self.columns.contains($0.name) && $0.value != .null }
      let hasIndex = known.contains { $0.name == "order_index" }
      let place = hasIndex ? [] : [JSONTree.Member(name: "order_index", value: .number(String(index)))]
      return .object(known + place + [JSONTree.Member(name: "hunt_id", value: hunt)])
    }
  }

  private static let columns: Set = [
    "id", "title", "description", "location", "photo_required", "points", "order_index",
  ]

  /// - Throws: ``RestQueries/RestFailure`` 400.
  static func requireFew(_ checkpoints: [NestedCheckpoints]) throws {
    guard checkpoints.reduce(0, { $0 + $1.rows.count }) <= totalMax else {
      throw RestFailure.invalid("checkpoints", "of all hunts are at most \(totalMax)", in: "scavenger_hunts")
    }
  }

  /// All at once. What one of them leaves out has its default, whatever the others have.
  ///
  /// - Returns: their ids.
  func insert(for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine) throws -> [String] {
    guard !rows.isEmpty else { return [] }
    let columns = (Self.columns.sorted() + ["hunt_id"]).joined(separator: ",")
    let request = RestRequest(
      .post, AdventureTables.checkpoints.name, query: "columns=\(columns)", prefer: ["return=minimal,missing=default"],
      body: Array(JSONTree.array(rows).text.utf8))
    let operation = try RestOperation(request, in: AdventureTables.schema)
    try CheckpointWrites.requireValid(operation)
    return try operation.answer(for: caller, on: db, engine).changedKeys
  }
}
