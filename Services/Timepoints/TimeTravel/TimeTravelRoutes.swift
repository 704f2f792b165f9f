import ClientBodies
import Database
import Foundation
import Hummingbird
import Web
import Wire

/// Goes forward and back in time from a timepoint: each jump makes another one, which is linked to it.
struct TimeTravelRoutes: Sendable {
  let generations: Generations
  let access: Access
  let providers: ProvidersStatus
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.post("/api/v1/temporal/{id}/next") { try await jump($0, $1, .next) }
    routes.post("/api/v1/temporal/{id}/prior") { try await jump($0, $1, .prior) }
    routes.get("/api/v1/temporal/{id}/sequence", use: sequence)
  }

  private func jump(_ request: Request, _ context: Context, _ direction: JumpDirection) async throws -> Response {
    let (viewer, user) = try access.user(context)
    let key = try request.idempotencyKey()
    let body = try await request.jsonIfPresent(JumpBody.self) ?? JumpBody(units: nil, unit: nil)
    let (units, unit) = try body.distance()
    let id = try context.timepointID()
    let source = try await generations.database.read { db in try TimepointStore.visible(id, to: viewer, on: db) }
    guard let scene = source.scene else { throw Failure.timepointNotCompleted }
    try requireConfigured(providers)
    let target = scene.timeline.date.moved(by: direction == .next ? units : -units, unit)
    let input = GenerationInput(
      query: source.query, preset: source.preset, wantsImage: source.hasImage,
      base: JumpBase(scene: scene, target: target, direction: direction, units: units, unit: unit))
    let new = NewTimepoint(
      id: .new(at: now()), owner: user, input: input, visibility: source.visibility, operation: PricedOperation.jump,
      isCharged: !viewer.isOpen, parent: source, clientKey: key,
      clientDigest: key.map { _ in "\(direction.rawValue) \(units) \(unit.rawValue) \(id)" })
    let ended = try await generations.ended(try await generations.begin(new).id)
    if let failure = ended.failure { throw failure.failure }
    return .json(
      TemporalJump(
        sourceID: id.description, targetID: ended.id.description, sourceYear: scene.timeline.year,
        targetYear: ended.scene?.timeline.year ?? target.year, direction: direction.rawValue, units: units,
        unit: unit.rawValue,
        message:
          "You are \(units) \(unit.rawValue)\(units == 1 ? "" : "s") \(direction == .next ? "later" : "earlier")."
      ))
  }

  @Sendable private func sequence(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.viewer(context)
    let id = try context.timepointID()
    let limit = try request.queryNumber("limit", default: 10, in: 1...50)
    let direction = request.uri.queryParameters["direction"].map(String.init) ?? "both"
    guard direction == "both" || JumpDirection(rawValue: direction) != nil else {
      throw Failure.invalid(.init("direction", "must be prior, next or both"))
    }
    let body = try await generations.database.read { db in
      let center = try TimepointStore.visible(id, to: viewer, on: db)
      func walk(_ way: JumpDirection) throws -> [TemporalSequence.Scene] {
        guard direction == "both" || direction == way.rawValue else { return [] }
        return try TimepointSequence.walk(way, from: center, limit: limit, for: viewer, on: db)
          .map { TemporalSequence.Scene($0) }
      }
      return TemporalSequence(center: .init(center), prior: try walk(.prior), next: try walk(.next))
    }
    return .json(body)
  }
}

/// The timepoints before and after one.
enum TimepointSequence {
  /// Follows the latest jump in a direction that the viewer may see; without one, the jump by which the timepoint
  /// itself was reached from the other side.
  static func walk(
    _ way: JumpDirection, from center: Timepoint, limit: Int, for viewer: Viewer, on db: any Connection
  ) throws -> [Timepoint] {
    var (found, current): ([Timepoint], Timepoint) = ([], center)
    while found.count < limit {
      guard
        let following = try child(of: current, way, for: viewer, on: db)
          ?? origin(of: current, against: way, for: viewer, on: db)
      else { break }
      found.append(following)
      current = following
    }
    return found
  }

  private static func child(
    of timepoint: Timepoint, _ way: JumpDirection, for viewer: Viewer, on db: any Connection
  ) throws -> Timepoint? {
    let row = try db.row(
      """
      select \(TimepointStore.columns) from timepoint
      where parent_id = \(timepoint.id) and direction = \(way.rawValue) and status = 'completed'
        and deleted_at is null and (visibility = 'public' or owner_id = \(viewer.user) or 1 = \(viewer.isOpen ? 1 : 0))
      order by created_at desc, id desc limit 1
      """)
    return try row.map(Timepoint.init)
  }

  private static func origin(
    of timepoint: Timepoint, against way: JumpDirection, for viewer: Viewer, on db: any Connection
  ) throws -> Timepoint? {
    guard let direction = timepoint.direction, direction != way, let parent = timepoint.parent,
      let found = try TimepointStore.find(parent, on: db), found.status == .completed, found.deletedAt == nil,
      found.visibility == .public || viewer.owns(found)
    else { return nil }
    return found
  }
}

private struct JumpBody: Decodable {
  let units: Int?
  let unit: String?

  /// - Throws: a validation failure that names the fields at fault.
  func distance() throws -> (Int, TimeUnit) {
    try FieldErrors.collected(
      {
        guard (1...365).contains(units ?? 1) else { throw Failure.invalid(.init("units", "must be from 1 to 365")) }
        return units ?? 1
      },
      {
        guard let unit = TimeUnit(rawValue: unit ?? "day") else {
          let names = TimeUnit.allCases.map(\.rawValue).joined(separator: ", ")
          throw Failure.invalid(.init("unit", "must be one of \(names)"))
        }
        return unit
      })
  }
}

extension TemporalSequence.Scene {
  fileprivate init(_ timepoint: Timepoint) {
    self.init(id: timepoint.id.description, year: timepoint.scene?.timeline.year, slug: timepoint.slug)
  }
}
