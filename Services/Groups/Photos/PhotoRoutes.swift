import Clients
import Foundation
import Hummingbird
import NIOCore
import Web
import Wire

/// Photos as members send and see them.
struct PhotoRoutes: Sendable {
  let photos: Photos
  let receiver: PhotoReceiver
  let links: PhotoLinks
  let users: UsersClient
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let mine = routes.group(context: SignedIn.self)
    mine.post("/api/photos/upload", use: upload)
    mine.post("/api/photos/upload-url", use: announce)
    mine.post("/api/photos/confirm-upload", use: confirm)
    // A group's id or a photo's: the router wants one name for one place.
    mine.get("/api/photos/{id}/today", use: today)
    mine.get("/api/photos/{id}", use: show)
    mine.delete("/api/photos/{id}", use: delete)
  }

  @Sendable private func upload(_ request: Request, _ context: SignedIn) async throws -> Response {
    let upload = try await receiver.upload(request)
    let call = try request.idempotentCall(by: context.user.description, context, content: upload.content)
    return try await photos.send(upload, by: context.user, call).response
  }

  @Sendable private func announce(_ request: Request, _ context: SignedIn) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.user.description, context)
    let body = try await request.json(AnnouncementBody.self)
    let (group, byteCount) = (body.group_id, try body.byteCount())
    let (now, user, lifetime) = (now(), context.user, PhotoLinks.uploadLifetime)
    let id = PhotoID.new(at: now)
    // A store cannot bound what it has not been told the size of; we can.
    let direct = byteCount.flatMap { photos.files.uploadURL(of: id, byteCount: $0, for: .seconds(lifetime)) }
    let url = direct ?? links.upload(id, until: now + lifetime)
    return try await photos.idempotency.once(call) { db in
      try PhotoStore.announce(id, to: group, by: user, at: now, on: db)
      return try .json(
        AnnouncedBody(upload_url: url, photo_id: id, storage_path: PhotoFileName(id, .original).text))
    }.response
  }

  @Sendable private func confirm(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await photos.confirm(try await request.photoID(), by: context.user)
    return .json(SuccessBody(success: true))
  }

  @Sendable private func today(_ request: Request, _ context: SignedIn) async throws -> Response {
    let now = now()
    let today = try await photos.store.today(of: context.id("id", else: .notInGroup), for: context.user, at: now)
    return .json(["photos": try await bodies(today, for: context.user, at: now)])
  }

  @Sendable private func show(_ request: Request, _ context: SignedIn) async throws -> Response {
    let now = now()
    let photo = try await photos.store.photo(context.photoID(), for: context.user, at: now)
    return .json(try await bodies([photo], for: context.user, at: now).first)
  }

  @Sendable private func delete(_ request: Request, _ context: SignedIn) async throws -> Response {
    try await photos.store.end(context.photoID(), by: context.user, at: now())
    return .json(SuccessBody(success: true))
  }

  private func bodies(_ photos: [Photo], for viewer: UserID, at now: Date) async throws -> [PhotoBody] {
    let people = try await users.names(of: Set(photos.map(\.sender)))
    return photos.map { photo in
      PhotoBody(
        id: photo.id, group_id: photo.group, sender_id: photo.sender,
        sender_name: people[photo.sender]?.firstName ?? "",
        url: links.view(photo, .large, by: viewer, at: now),
        thumbnail_url: links.view(photo, .small, by: viewer, at: now), created_at: photo.createdAt,
        expires_at: photo.expiresAt)
    }
  }
}

extension RequestContext {
  func photoID() throws -> PhotoID { try id("id", else: .photoNotFound) }
}

extension Request {
  /// `photo_id` of a body that is JSON or a form of either kind.
  fileprivate func photoID() async throws -> PhotoID {
    let type = headers[.contentType] ?? ""
    let isForm = type.lowercased().hasPrefix("application/x-www-form-urlencoded")
    var reader = MultipartReader(contentType: type)
    guard isForm || reader != nil else { return try await json(ConfirmationBody.self).photo_id }
    let body: ByteBuffer
    do { body = try await self.body.collect(upTo: 64 * 1024) } catch is NIOTooManyBytesError { throw Failure.tooLarge }
    let text = isForm ? Self.field("photo_id", in: String(buffer: body)) : try reader?.field("photo_id", of: body)
    guard let text else { throw Failure.invalid(.init("photo_id", "is required")) }
    guard let id = PhotoID(text) else { throw Failure.invalid(.init("photo_id", "must be a UUID")) }
    return id
  }

  private static func field(_ name: String, in form: String) -> String? {
    form.split(separator: "&").first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
  }
}

private struct AnnouncementBody: Decodable {
  let group_id: GroupID
  let size: Int?
  /// The same, as headers call it.
  let content_length: Int?

  /// nil when it was not told.
  ///
  /// - Throws: 413 when it is more than a photo may have, the validation failure for what is no size.
  func byteCount() throws(Failure) -> Int? {
    guard let count = size ?? content_length else { return nil }
    guard count > 0 else { throw .invalid(.init(size == nil ? "content_length" : "size", "must be 1 or more")) }
    guard count <= UploadedFile.bytesMax else { throw .photoTooLarge }
    return count
  }
}

private struct AnnouncedBody: Encodable {
  let upload_url: String
  let photo_id: PhotoID
  let storage_path: String
}

private struct ConfirmationBody: Decodable {
  let photo_id: PhotoID
}

private struct PhotoBody: Encodable {
  let id: PhotoID
  let group_id: GroupID
  let sender_id: UserID
  let sender_name: String
  let url: String
  let thumbnail_url: String
  let created_at: Date
  let expires_at: Date
}
