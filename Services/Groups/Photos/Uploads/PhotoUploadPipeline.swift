import ClientBodies
import Database
import Foundation
import Photos
import Web
import Wire

/// Renders an uploaded photo, stores its files and then writes its row, which makes it visible; for uploads in one
/// request and for those through an upload URL.
struct PhotoUploadPipeline: Sendable {
  let store: PhotoStore
  let files: any PhotoFiles
  let local: PhotoFolder
  let renderer: PhotoRenderer
  let idempotency: Idempotency
  let notifications: FirstPhotoNotifications
  let now: @Sendable () -> Date

  /// Accepts an upload as the user's photo of the day.
  ///
  /// - Throws: 403 for a user who is not a member; 400 for the second photo of the day; 415 and 422 for a file that is
  ///   not a photo, or too large a one.
  func send(_ upload: PhotoUpload, by user: UserID, _ call: IdempotentCall?) async throws -> Reply {
    let now = now()
    let photo = Photo(id: .new(at: now), group: upload.group, sender: user, sentAt: now)
    var hasFiles = false
    defer { notifications.wakeUp() }
    do {
      let reply = try await idempotency.claimed(call) {
        try await store.checkMaySend(to: upload.group, by: user, at: now)
        let renditions = try await renderer.renditions(of: upload.file)
        hasFiles = true
        try await files.store(renditions, of: photo.id.uuid)
        return renditions.dimensions
      } effect: { dimensions, db in
        try notifications.add(photo, on: PhotoStore.insert(photo, dimensions, on: db), db)
        return try .json(SentPhoto(photoID: photo.id.description, expiresAt: photo.expiresAt))
      }
      // A failure that is stored under an idempotency key is returned as a reply.
      if hasFiles, reply.status != 200 { await deleteFiles(of: photo.id) }
      return reply
    } catch {
      // When it is unknown whether there is a row, the sweep reconciles files and rows.
      if hasFiles, error as? DatabaseFailure != .outcomeUnknown { await deleteFiles(of: photo.id) }
      throw error
    }
  }

  /// - Throws: 400 when the photo is confirmed; 410 when no upload is pending.
  func requirePending(_ id: PhotoID, at now: Date) async throws {
    guard case .pending = try await store.uploadState(id, by: nil, at: now) else { throw Failure.alreadySentToday }
  }

  /// Stores an original for ``confirm(_:by:)``.
  ///
  /// - Throws: 415 for a file that is not a photo; 400 or 410 when no upload is pending any more.
  func storeOriginal(_ original: UploadedFile, as id: PhotoID) async throws {
    let isPhoto = try await local.runBlocking { [renderer] in
      let head = try original.buffer(0..<min(original.byteCount, ImageFormat.headLength))
      return ImageFormat(head: head.readableBytesView).map(renderer.formats.contains) ?? false
    }
    guard isPhoto else { throw Failure.photoTypeUnsupported }
    try await files.store(original, as: PhotoFileName(id, .original))
    // The upload may have taken minutes. A confirmation after this check deletes the original; an earlier one cannot
    // have deleted it.
    do { try await requirePending(id, at: now()) } catch let failure as Failure {
      await deleteFiles(of: id, [.original])
      throw failure
    }
  }

  /// Renders the original of a pending upload and makes the photo visible. Safe to repeat.
  ///
  /// - Throws: 404 when there is no such upload, 410 when it has expired or was replaced, 400 when no original was
  ///   uploaded or for the second photo of the day; 413, 415 and 422 as for an upload.
  func confirm(_ id: PhotoID, by user: UserID) async throws {
    let now = now()
    guard case .pending(let group) = try await store.uploadState(id, by: user, at: now) else { return }
    let photo = Photo(id: id, group: group, sender: user, sentAt: now)
    do {
      let renditions = try await renderedOriginal(of: id)
      try await files.store(renditions, of: id.uuid)
      try await store.database.write { db in
        try notifications.add(photo, on: PhotoStore.confirm(photo, renditions.dimensions, on: db), db)
      }
      notifications.wakeUp()
    } catch let failure as Failure where [.photoGone, .nothingUploaded].contains(failure) {
      // A concurrent request may have confirmed it.
      guard try await isCompleted(id, by: user, at: now) else {
        // Replaced meanwhile, and perhaps swept before these files were stored.
        if failure == .photoGone { await deleteFiles(of: id) }
        throw failure
      }
    }
    try await files.delete([PhotoFileName(id, .original)])
  }

  private func isCompleted(_ id: PhotoID, by user: UserID, at now: Date) async throws -> Bool {
    do { return try await store.uploadState(id, by: user, at: now) == .completed } catch is Failure { return false }
  }

  private func renderedOriginal(of id: PhotoID) async throws -> Renditions {
    do {
      guard let original = try await files.original(of: id.uuid, into: local.incoming) else {
        throw Failure.nothingUploaded
      }
      return try await renderer.renditions(of: original)
    } catch let failure as Failure where [.tooLarge, .unsupportedType, .unprocessable].contains(failure.kind) {
      // The client may upload another original in its place.
      try await files.delete([PhotoFileName(id, .original)])
      throw failure
    }
  }

  /// Deletes files also when the request has been cancelled. The sweep deletes those for which this fails.
  private func deleteFiles(
    of id: PhotoID, _ kinds: [PhotoFileName.Kind] = PhotoFileName.Kind.allCases
  ) async {
    await Task { [files] in
      // `try?`: the sweep deletes what is left.
      try? await files.delete([id], kinds)
    }.value
  }
}

extension Failure {
  static let nothingUploaded = Failure(
    .malformed, "nothing_uploaded", "Send the photo to its upload_url before confirming it.")
}
