import Database
import RestQueries
import Wire

/// Leaving a hunt. Joining is ``HuntJoining``.
struct ParticipantWrites: TableWriting {
  func write(
    _ operation: RestOperation, for caller: RestQueries.Caller, on db: any Connection, _ engine: Engine
  ) throws -> RestAnswer {
    var operation = operation
    let mine = try operation.restrict(for: caller, on: db, engine).compactMap { key in
      try db.row("select id, hunt_id from hunt_participant where id = \(ID<Hunt>(key)) and user_id = \(caller.id)")
    }
    let hunts = Dictionary(
      try mine.map { (try $0.get("id", as: String.self), try $0.get("hunt_id", as: String.self)) }
    ) { $1 }
    _ = try Hunt.lock(Array(Set(hunts.values)), on: db)
    let answer = try operation.answer(for: caller, on: db, engine)
    for key in answer.changedKeys {
      guard let hunt = hunts[key] else { continue }
      try ParticipantStore.ended(key, of: caller, in: hunt, on: db)
    }
    return answer
  }
}
