import ClientBodies
import Database
import Foundation
import Outbox
import Wire

/// Stores the results of one generation's steps, as long as this process has its lease.
struct GenerationSteps: StepStore {
  let row: SagaRow
  let timepoint: TimepointID
  let database: any Database
  let images: SceneImages
  let signals: GenerationSignals

  func results() async throws -> [PipelineStep: StepResult] {
    let rows = try await database.readOnce { [timepoint] db in
      try db.rows("select result from generation_step where timepoint_id = \(timepoint) limit 20")
    }
    var results: [PipelineStep: StepResult] = [:]
    for row in rows {
      let result = try JSON.decode(StepResult.self, from: Data(try row.get("result", as: String.self).utf8))
      results[result.step] = result
    }
    return results
  }

  /// The picture is stored before its result: one that says that there is a picture is never without it.
  func keep(_ image: GeneratedImage) async throws -> Bool {
    do { try await images.store(image, of: timepoint) } catch let failure as Failure where !failure.isServerFault {
      return false
    }
    return true
  }

  /// What is reported is stored in the transaction of the result.
  func save(_ result: StepResult, events: [PipelineEvent]) async throws {
    let json = String(decoding: try JSON.encode(result.stored), as: UTF8.self)
    try await row.step { [timepoint, signals] db in
      try db.change(
        """
        insert into generation_step (timepoint_id, step, result) values (\(timepoint), \(result.step.rawValue), \(json))
        on conflict do nothing
        """)
      for body in events.compactMap({ TimepointProgress($0) }) {
        try GenerationEventStore.append(body, to: timepoint, on: db)
        try signals.notify(timepoint, on: db)
      }
    }
  }

  static func delete(of timepoint: TimepointID, on db: any Connection) throws {
    try db.change("delete from generation_step where timepoint_id = \(timepoint)")
  }
}
