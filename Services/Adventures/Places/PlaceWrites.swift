import Database
import EventFeed
import RestQueries
import Wire

/// Saved places: their owner's alone.
struct PlaceWrites: TableWriting {
  func write(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    let answer = try operation.answer(for: caller, on: db, engine)
    try OwnRowEvents(topic: EventTopic.savedPlaces(caller.id), name: "saved_place", idName: "place_id")
      .record(operation, answer, for: caller, on: db, engine)
    return answer
  }
}
