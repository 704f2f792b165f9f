import Database
import EventFeed
import RestQueries
import Wire

/// Plans of adventures: their owner's alone.
struct PlanWrites: TableWriting {
  func write(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    try operation.require("stops", "must be an array", \.isArray)
    try operation.require("route_data", "must be an object", \.isObject)
    let answer = try operation.answer(for: caller, on: db, engine)
    try OwnRowEvents(topic: EventTopic.adventures(caller.id), name: "adventure", idName: "adventure_id")
      .record(operation, answer, for: caller, on: db, engine)
    return answer
  }
}
