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

  func add(to routes: HTTPRoutes) {
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

private struct VisibilityBody: Decodable {
  let visibility: String
}

private struct DeletedBody: Encodable {
  let id: TimepointID
  let deleted: Bool
  let message: String
}
