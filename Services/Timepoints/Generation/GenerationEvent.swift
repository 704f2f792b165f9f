import ClientBodies
import Database
import Foundation
import Wire

/// One event of the stream of a generation, as it is sent.
struct GenerationEvent: Sendable {
  /// From 1, without gaps: the stream's `id:`.
  let number: Int
  let json: String
  let isLast: Bool
}

/// All statements on `generation_event`. Whoever appends has locked the job's row, so that numbers have no gaps.
enum GenerationEventStore {
  /// An event is there once; what a second run of a generation reports again is left out.
  static func append(_ body: TimepointProgress, to timepoint: TimepointID, on db: any Connection) throws {
    let name = body.step ?? body.event
    let json = String(decoding: try JSON.encode(body), as: UTF8.self)
    try db.change(
      """
      insert into generation_event (timepoint_id, number, name, event)
      select \(timepoint),
        coalesce((select max(number) from generation_event where timepoint_id = \(timepoint)), 0) + 1, \(name), \(json)
      where not exists (select 1 from generation_event where timepoint_id = \(timepoint) and name = \(name))
      """)
  }

  static func events(of timepoint: TimepointID, after number: Int, on db: any Connection) throws -> [GenerationEvent] {
    try db.rows(
      """
      select number, name, event from generation_event where timepoint_id = \(timepoint) and number > \(number)
      order by number limit 50
      """
    ).map { row in
      let name = try row.get("name", as: String.self)
      return GenerationEvent(
        number: try row.get("number"), json: try row.get("event"),
        isLast: TimepointProgress.Name(rawValue: name)?.isLast ?? false)
    }
  }
}

/// The bodies of events.
extension TimepointProgress {
  /// - Returns: nil for a step that the stream does not have.
  init?(_ event: PipelineEvent) {
    switch event {
    case .completed(let result, _):
      guard let progress = result.step.progress else { return nil }
      self.init(
        event: Name.stepComplete.rawValue, step: result.step.rawValue, progress: Double(progress),
        data: ["latency_ms": .int(result.milliseconds), "model": .string(result.model)], error: nil)
    case .imageFailed(let message, _):
      self.init(
        event: Name.stepError.rawValue, step: PipelineStep.imageGeneration.rawValue, progress: 100, data: nil,
        error: message)
    }
  }

  static let start = TimepointProgress(
    event: Name.start.rawValue, step: "initialization", progress: 0, data: nil, error: nil)

  static func failed(_ failure: StoredFailure) -> TimepointProgress {
    TimepointProgress(event: Name.error.rawValue, progress: 0, data: nil, error: failure.message)
  }

  static func done(
    _ timepoint: Timepoint, _ scene: GeneratedScene, hasImage: Bool, milliseconds: Int
  ) -> TimepointProgress {
    TimepointProgress(
      event: Name.done.rawValue, progress: 100,
      data: [
        "timepoint_id": .string(timepoint.id.description), "slug": .string(timepoint.slug),
        "status": .string(Timepoint.Status.completed.rawValue), "year": .int(scene.timeline.year),
        "location": .string(scene.timeline.location), "total_latency_ms": .int(milliseconds),
        "has_image": .bool(hasImage), "saved": true,
      ], error: nil)
  }
}
