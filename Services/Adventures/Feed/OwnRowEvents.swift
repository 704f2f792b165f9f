import Database
import EventFeed
import RestQueries
import Wire

/// The events of rows that only their owner sees, on the owner's topic: `saved_place_added`, `…_changed`, `…_removed`.
struct OwnRowEvents {
  let topic: String
  let name: String
  /// The member of the payload with the row's id.
  let idName: String

  func record(
    _ operation: RestOperation, _ answer: RestAnswer, for caller: RestQueries.Caller, on db: any Connection,
    _ engine: Engine
  ) throws {
    let (table, method) = (operation.table, operation.request.method)
    if method == .delete {
      for key in answer.changedKeys { record("removed", key, ChangedRows.deletion(table, key), caller, on: db) }
      return
    }
    for row in try ChangedRows.records(of: operation, answer, for: caller, on: db, engine) {
      let id = row["id"]?.text ?? ""
      let isNew = answer.insertedKeys.contains(id)
      record(
        isNew ? "added" : "changed", id,
        ChangedRows.change(table, isNew ? .insert : .update, row), caller, on: db)
    }
  }

  private func record(
    _ verb: String, _ key: String, _ change: EventChange, _ caller: RestQueries.Caller, on db: any Connection
  ) {
    EventFeed.record(
      "\(name)_\(verb)", to: [topic], [idName: key], change: change, of: caller.id, at: caller.now, on: db)
  }
}

extension JSONValue {
  var text: String? { if case .string(let text) = self { text } else { nil } }
}
