import Database
import Foundation
import Hummingbird
import Web
import Wire

/// What the owner of a timepoint may do with it.
struct OwnerRoutes: Sendable {
  let database: any Database
  let access: Access
  let removal: TimepointRemoval
  let images: SceneImages
  let blobs: BlobFolder?
  let presenter: TimepointPresenter
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    routes.patch("/api/v1/timepoints/{id}/visibility", use: setVisibility)
    routes.delete("/api/v1/timepoints/{id}", use: delete)
    routes.post("/api/v1/timepoints/{id}/export", use: export)
  }

  @Sendable private func setVisibility(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.user(context).viewer
    let id = try context.timepointID()
    let visibility = try GenerationRequest.visibility(try await request.json(VisibilityBody.self).visibility)
    let timepoint = try await database.write { db in
      _ = try TimepointStore.own(id, of: viewer, on: db)
      try TimepointStore.setVisibility(id, visibility, on: db)
      return try TimepointStore.own(id, of: viewer, on: db)
    }
    return .json(presenter.body(timepoint, for: viewer))
  }

  @Sendable private func delete(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.user(context).viewer
    let id = try context.timepointID()
    let isPermanent = try request.queryFlag("permanent")
    if isPermanent {
      try await removal.delete(id, by: viewer)
    } else {
      try await removal.markDeleted(id, by: viewer)
    }
    return .json(
      DeletedBody(
        id: id, deleted: true,
        message: isPermanent ? "The timepoint is deleted for good." : "The timepoint is deleted."))
  }

  /// Writes the folder of the timepoint, where there are such folders.
  @Sendable private func export(_ request: Request, _ context: Context) async throws -> Response {
    let viewer = try access.user(context).viewer
    let id = try context.timepointID()
    let timepoint = try await database.read { db in try TimepointStore.own(id, of: viewer, on: db) }
    guard let blobs, let scene = timepoint.scene else {
      return .json(presenter.body(timepoint, for: viewer, isFull: true))
    }
    let folder = timepoint.blobFolder ?? blobs.newFolder(for: id, at: timepoint.createdAt)
    try await blobs.write(scene, of: id, images, to: folder)
    let now = now()
    let exported = try await database.write { db in
      try TimepointStore.recordBlob(id, folder: folder, at: now, on: db)
      return try TimepointStore.own(id, of: viewer, on: db)
    }
    return .json(presenter.body(exported, for: viewer, isFull: true))
  }
}

extension Failure {
  fileprivate static let generationCalledOff = Failure(
    .conflict, "generation_called_off", "The scene was deleted before it was done.")
}

private struct VisibilityBody: Decodable {
  let visibility: String
}

private struct DeletedBody: Encodable {
  let id: TimepointID
  let deleted: Bool
  let message: String
}

/// Deletes timepoints with everything that belongs to them.
struct TimepointRemoval: Sendable {
  let database: any Database
  let charges: Charges
  let images: SceneImages
  let blobs: BlobFolder?
  let signals: GenerationSignals
  let worker: GenerationWorker
  let now: @Sendable () -> Date

  /// One that is being made is called off, and its credits are given back. Safe to repeat after a crash: its files are
  /// deleted first.
  func delete(_ id: TimepointID, by viewer: Viewer) async throws {
    let timepoint = try await database.read { db in
      guard let found = try TimepointStore.find(id, on: db) else { throw Failure.timepointNotFound }
      // Also one that is marked as deleted.
      guard viewer.owns(found) else {
        try viewer.requireVisible(found)
        throw Failure.notOwner
      }
      return found
    }
    try await deleteFiles(of: [timepoint])
    let now = now()
    let wasUnfinished = try await database.write { db in
      let hadJob = try callOff(timepoint, at: now, on: db)
      try TimepointStore.delete(id, on: db)
      return hadJob
    }
    if wasUnfinished { try await calledOff(id) }
  }

  /// It stays in its owner's export until it is deleted for good. One that is being made is called off as well.
  func markDeleted(_ id: TimepointID, by viewer: Viewer) async throws {
    let now = now()
    let wasUnfinished = try await database.write { db in
      let timepoint = try TimepointStore.own(id, of: viewer, on: db)
      try TimepointStore.markDeleted(id, at: now, on: db)
      guard try callOff(timepoint, at: now, on: db) else { return false }
      let failure = StoredFailure(.generationCalledOff)
      try TimepointStore.fail(id, failure, at: now, on: db)
      try GenerationEventStore.append(.failed(failure), to: id, on: db)
      try GenerationSteps.delete(of: id, on: db)
      return true
    }
    if wasUnfinished { try await calledOff(id) }
  }

  /// - Returns: false when it has ended.
  private func callOff(_ timepoint: Timepoint, at now: Date, on db: any Connection) throws -> Bool {
    guard try GenerationJobStore.end(timepoint.id, of: timepoint.owner, at: now, on: db) else { return false }
    _ = try ChargeStore.decide(ChargeID(timepoint.id.uuid), .void, due: now, on: db)
    try signals.notify(timepoint.id, isEnd: true, on: db)
    try signals.notifyOfJobs(on: db)
    return true
  }

  private func calledOff(_ id: TimepointID) async throws {
    signals.send(id, isEnd: true)
    worker.wakeUp()
    try await charges.release(ChargeID(id.uuid))
  }

  func deleteFiles(of timepoints: [Timepoint]) async throws {
    try await images.delete(timepoints.map(\.id))
    guard let blobs else { return }
    for timepoint in timepoints {
      // A folder may be written and not recorded, while the timepoint is not completed.
      try await blobs.delete(timepoint.blobFolder ?? blobs.newFolder(for: timepoint.id, at: timepoint.createdAt))
    }
  }
}
