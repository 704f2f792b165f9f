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
    routes.onLoop("/api/photos/{id}/file", respond: cachedDownload)
    routes.put("/api/photos/{id}/file", use: upload)
  }

  @Sendable private func download(_ request: Request, _ context: Context) async throws -> Response {
    let now = now()
    let query = request.uri.queryParameters
    let requested = try PhotoFileRequest(
      of: context.parameters.get("id"), size: query["size"], viewer: query["viewer"], expires: query["expires"],
      signature: query["signature"])
    try links.check(requested.permission, expires: requested.expires, signature: requested.signature, at: now)
    let photo = try await pipeline.store.cachedPhoto(requested.photo, for: requested.viewer, at: now)
    let headers: HTTPFields = [
      .cacheControl: requested.cacheControl(until: photo.expiresAt, at: now), .xContentTypeOptions: "nosniff",
    ]
    guard
      let response = try await pipeline.files.response(
        PhotoFileName(photo.id, size: requested.size), eTag: requested.eTag, headers, to: request)
    else {
      context.logger.error("a photo has lost its bytes", metadata: ["photo": "\(photo.id)"])
      throw Failure.photoNotFound
    }
    return response
  }

  /// A whole file that is in memory, for a viewer who was let see the photo a moment ago.
  @Sendable private func cachedDownload(_ request: LoopRequest) throws -> LoopResult? {
    guard let query = request.parameters("size", "viewer", "expires", "signature"), !request.hasField("range"),
      !request.hasField("if-none-match")
    else { return nil }
    let now = now()
    let requested = try PhotoFileRequest(
      of: request.variable, size: query[0], viewer: query[1], expires: query[2], signature: query[3])
    try links.check(requested.permission, expires: requested.expires, signature: requested.signature, at: now)
    guard let photo = try pipeline.store.photoAccess.photo(requested.photo, for: requested.viewer, at: now) else {
      return nil
    }
    let name = PhotoFileName(photo.id, size: requested.size)
    guard var response = pipeline.files.cachedResponse(name, eTag: requested.eTag) else { return nil }
    response.add("Cache-Control", requested.cacheControl(until: photo.expiresAt, at: now))
    response.add("X-Content-Type-Options", "nosniff")
    return .response(response)
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
  init(
    of photo: String?, size: (some StringProtocol)?, viewer: (some StringProtocol)?, expires: (some StringProtocol)?,
    signature: (some StringProtocol)?
  ) throws(Failure) {
    guard let photo = photo.flatMap({ PhotoID($0) }), let size = size.flatMap({ Int($0) }).flatMap(PhotoSize.init),
      let viewer = viewer.flatMap({ UserID(String($0)) })
    else { throw .linkInvalid }
    self.photo = photo
    self.size = size
    self.viewer = viewer
    self.expires = expires.map { String($0) }
    self.signature = signature.map { String($0) }
    eTag = "\"\(photo)-\(size.rawValue)\""
  }

  var permission: PhotoLinks.Permission { .view(photo, size, viewer) }

  /// Made of photo and size: a photo's files never change.
  let eTag: String

  /// Only the viewer's device may cache the file, until the photo expires.
  func cacheControl(until end: Date, at now: Date) -> String {
    "private, max-age=\(Int64(clamping: Int(max(0, end.timeIntervalSince(now))))), immutable"
  }
}
