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

  func results() async throws -> [PipelineStep: StepResult] {
    let rows = try await database.read { [timepoint] db in
      try db.rows("select result from generation_step where timepoint_id = \(timepoint) limit 20")
    }
    var results: [PipelineStep: StepResult] = [:]
    for row in rows {
      let result = try JSON.decode(StepResult.self, from: Data(try row.get("result", as: String.self).utf8))
      results[result.step] = result
    }
    return results
  }

  /// The picture is stored first: a result that says that there is one is never without it.
  func save(_ result: StepResult, image: GeneratedImage?) async throws {
    if let image { try await images.store(image, of: timepoint) }
    let json = String(decoding: try JSON.encode(result), as: UTF8.self)
    try await row.step { [timepoint] db in
      try db.change(
        """
        insert into generation_step (timepoint_id, step, result) values (\(timepoint), \(result.step.rawValue), \(json))
        on conflict do nothing
        """)
    }
  }

  static func delete(of timepoint: TimepointID, on db: any Connection) throws {
    try db.change("delete from generation_step where timepoint_id = \(timepoint)")
  }
}
