import Foundation
import Hummingbird
import NIOCore
import Photos
import Web
import Wire

/// Downloads and uploads of photo files through signed links, without a bearer token.
struct PhotoFileRoutes: Sendable {
  let pipeline: PhotoUploadPipeline
  let uploadReader: PhotoUploadReader
  let links: PhotoLinks
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    routes.get("/api/photos/{id}/file", use: download)
    routes.put("/api/photos/{id}/file", use: upload)
  }

  @Sendable private func download(_ request: Request, _ context: Context) async throws -> Response {
    let now = now()
    let requested = try PhotoFileRequest(request, context)
    try links.check(requested.permission, expires: requested.expires, signature: requested.signature, at: now)
    let photo = try await pipeline.store.cachedPhoto(requested.photo, for: requested.viewer, at: now)
    let headers = requested.headers(until: photo.expiresAt, at: now)
    guard
      let response = try await pipeline.files.response(
        PhotoFileName(photo.id, size: requested.size), eTag: requested.eTag, headers, to: request)
    else {
      context.logger.error("a photo has lost its bytes", metadata: ["photo": "\(photo.id)"])
      throw Failure.photoNotFound
    }
    return response
  }

  @Sendable private func upload(_ request: Request, _ context: Context) async throws -> Response {
    let now = now()
    let (query, photo) = (request.uri.queryParameters, try context.photoID())
    try links.check(
      .upload(photo), expires: query["expires"].map(String.init), signature: query["signature"].map(String.init),
      at: now)
    try await pipeline.requirePending(photo, at: now)
    try await pipeline.storeOriginal(uploadReader.rawBody(request).file, as: photo)
    return .json(SuccessBody(success: true))
  }
}

/// The parameters of a download link.
private struct PhotoFileRequest {
  let photo: PhotoID
  let size: PhotoSize
  let viewer: UserID
  let expires: String?
  let signature: String?

  /// - Throws: 403 for a link with a missing or invalid parameter.
  init(_ request: Request, _ context: Context) throws {
    let query = request.uri.queryParameters
    guard let size = query["size"].flatMap({ Int($0) }).flatMap(PhotoSize.init),
      let viewer = query["viewer"].flatMap({ UserID(String($0)) })
    else { throw Failure.linkInvalid }
    photo = try context.id("id", else: .linkInvalid)
    self.size = size
    self.viewer = viewer
    expires = query["expires"].map(String.init)
    signature = query["signature"].map(String.init)
    eTag = "\"\(photo)-\(size.rawValue)\""
  }

  var permission: PhotoLinks.Permission { .view(photo, size, viewer) }

  /// Made of photo and size: a photo's files never change.
  let eTag: String

  /// Only the viewer's device may cache the file, until the photo expires.
  func headers(until end: Date, at now: Date) -> HTTPFields {
    let seconds = Int64(clamping: Int(max(0, end.timeIntervalSince(now))))
    return [
      .cacheControl: "private, max-age=\(seconds), immutable", .xContentTypeOptions: "nosniff",
    ]
  }
}
