import ClientBodies
import Clients
import Foundation
import Hummingbird
import NIOCore
import Photos
import Web
import Wire

/// Sends, lists, shows and deletes photos of groups.
struct PhotoRoutes: Sendable {
  let pipeline: PhotoUploadPipeline
  let uploadReader: PhotoUploadReader
  let links: PhotoLinks
  let users: UsersClient
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.post("/api/photos/upload", use: upload)
    userRoutes.post("/api/photos/upload-url", use: createUploadURL)
    userRoutes.post("/api/photos/confirm-upload", use: confirm)
    // The id of a group or of a photo: the router allows one parameter name for one path segment.
    userRoutes.get("/api/photos/{id}/today", use: today)
    userRoutes.get("/api/photos/{id}", use: show)
    userRoutes.delete("/api/photos/{id}", use: delete)
  }

  @Sendable private func upload(_ request: Request, _ context: SignedIn) async throws -> Response {
    let upload = try await uploadReader.upload(request)
    let call = try request.idempotentCall(by: context.user.description, context, content: upload.fingerprint)
    return try await pipeline.send(upload, by: context.user, call).response
  }

  @Sendable private func createUploadURL(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let body = try await request.json(UploadURLRequestBody.self)
    let (group, byteCount) = (body.group_id, try body.byteCount())
    let (now, user, lifetime) = (now(), context.user, PhotoLinks.uploadLifetime)
    let id = PhotoID.new(at: now)
    // A presigned URL limits the size only when the size is known. Without it the upload goes through this service.
    let direct = byteCount.flatMap { pipeline.files.uploadURL(of: id.uuid, byteCount: $0, for: .seconds(lifetime)) }
    let url = direct ?? links.upload(id, until: now + lifetime)
    return try await pipeline.idempotency.once(call) { db in
      try PhotoStore.insertPending(id, to: group, by: user, at: now, on: db)
      return try .json(
        UploadURLBody(upload_url: url, photo_id: id, storage_path: PhotoFileName(id, .original).text))
    }.response
  }

  @Sendable private func confirm(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await pipeline.confirm(try await request.photoID(), by: context.user)
    return .json(SuccessBody(success: true))
  }

  @Sendable private func today(_ request: Request, _ context: SignedIn) async throws -> Response {
    let now = now()
    let today = try await pipeline.store.today(of: context.id("id", else: .notInGroup), for: context.user, at: now)
    return .json(PhotosAnswer(photos: try await bodies(today, for: context.user, at: now)))
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let now = now()
    let photo = try await pipeline.store.photo(context.photoID(), for: context.user, at: now)
    return .json(try await bodies([photo], for: context.user, at: now).first)
  }

  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await pipeline.store.end(context.photoID(), by: context.user, at: now())
    return .json(SuccessBody(success: true))
  }

  private func bodies(_ photos: [Photo], for viewer: UserID, at now: Date) async throws -> [ClientBodies.Photo] {
    let people = try await users.names(of: Set(photos.map(\.sender)))
    return photos.map { photo in
      ClientBodies.Photo(
        id: photo.id.description, groupID: photo.group.description, senderID: photo.sender.description,
        senderName: people[photo.sender]?.firstName ?? "", url: links.view(photo, .large, by: viewer, at: now),
        thumbnailURL: links.view(photo, .small, by: viewer, at: now), createdAt: photo.createdAt,
        expiresAt: photo.expiresAt)
    }
  }
}

extension RequestContext {
  func photoID() throws -> PhotoID { try id("id", else: .photoNotFound) }
}

extension Request {
  /// The `photo_id` in a body that is JSON, a URL-encoded form or multipart form data.
  fileprivate func photoID() async throws -> PhotoID {
    let type = headers[.contentType] ?? ""
    var reader = MultipartReader(contentType: type)
    guard isForm || reader != nil else { return try await json(ConfirmationBody.self).photo_id }
    let body: ByteBuffer
    do { body = try await self.body.collect(upTo: 64 * 1024) } catch is NIOTooManyBytesError { throw Failure.tooLarge }
    let text = isForm ? Self.field("photo_id", in: String(buffer: body)) : try reader?.field("photo_id", of: body)
    guard let text else { throw Failure.invalid(.init("photo_id", "is required")) }
    guard let id = PhotoID(text) else { throw Failure.invalid(.init("photo_id", "must be a UUID")) }
    return id
  }

  /// The field as it was sent, not decoded: a UUID has no characters that a form has to encode.
  private static func field(_ name: String, in form: String) -> String? {
    form.split(separator: "&").first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
  }
}

private struct UploadURLRequestBody: Decodable {
  let group_id: GroupID
  let size: Int?
  /// Another name of `size`.
  let content_length: Int?

  /// The size of the original; nil when the body has none.
  ///
  /// - Throws: 413 when it is larger than a photo may be, a validation failure when it is not positive.
  func byteCount() throws(Failure) -> Int? {
    guard let count = size ?? content_length else { return nil }
    guard count > 0 else { throw .invalid(.init(size == nil ? "content_length" : "size", "must be 1 or more")) }
    guard count <= UploadedFile.bytesMax else { throw .photoTooLarge }
    return count
  }
}

private struct UploadURLBody: Encodable {
  let upload_url: String
  let photo_id: PhotoID
  let storage_path: String
}

private struct ConfirmationBody: Decodable {
  let photo_id: PhotoID
}
