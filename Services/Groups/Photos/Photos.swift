import Database
import Foundation
import Web
import Wire

/// How a photo comes in, by either way: looked at, made anew, its bytes stored, and only then its row, which makes it
/// seen.
struct Photos: Sendable {
  let store: PhotoStore
  let files: any PhotoFiles
  let local: PhotoFolder
  let renderer: PhotoRenderer
  let idempotency: Idempotency
  let news: FirstPhotos
  let now: @Sendable () -> Date

  /// Takes an upload for the photo of the day.
  ///
  /// - Throws: 403 to strangers; 400 for the second of the day; 415 and 422 for what is no photo, or too much of one.
  func send(_ upload: PhotoUpload, by user: UserID, _ call: IdempotentCall?) async throws -> Reply {
    let now = now()
    let photo = Photo(id: .new(at: now), group: upload.group, sender: user, sentAt: now)
    var hasBytes = false
    defer { news.ring() }
    do {
      let reply = try await idempotency.claimed(call) {
        try await store.checkMaySend(to: upload.group, by: user, at: now)
        let renditions = try await renderer.renditions(of: upload.file)
        hasBytes = true
        try await keep(renditions, of: photo.id)
        return renditions.measures
      } effect: { measures, db in
        try news.add(photo, on: PhotoStore.keep(photo, measures, on: db), db)
        return try .json(SentPhotoBody(photo_id: photo.id, expires_at: photo.expiresAt))
      }
      // A refusal that is kept under a key is a reply like any other.
      if hasBytes, reply.status != 200 { await takeBack(photo.id) }
      return reply
    } catch {
      // Where nobody knows whether there is a row, the sweeper finds out.
      if hasBytes, error as? DatabaseFailure != .outcomeUnknown { await takeBack(photo.id) }
      throw error
    }
  }

  /// Whether an original may be sent to its announced place.
  func checkAnnounced(_ id: PhotoID, at now: Date) async throws {
    guard case .waiting = try await store.announced(id, by: nil, at: now) else { throw Failure.alreadySentToday }
  }

  /// Puts an original where ``confirm(_:by:)`` will look for it.
  ///
  /// - Throws: 415 for what is no photo; 400, 404 or 410 when none is waited for any more.
  func receive(_ original: UploadedFile, as id: PhotoID) async throws {
    let isPicture = try await local.blocking {
      let head = try original.buffer(0..<min(original.byteCount, PictureType.headLength))
      return PictureType(head: head.readableBytesView) != nil
    }
    guard isPicture else { throw Failure.photoTypeUnsupported }
    try await files.store(original, as: PhotoFileName(id, .original))
    // It may have been arriving for minutes. Whoever confirms after this deletes it; whoever did so before cannot have.
    do { try await checkAnnounced(id, at: now()) } catch let failure as Failure {
      await takeBack(id, [.original])
      throw failure
    }
  }

  /// Takes an announced photo whose original has been sent. Safe to repeat.
  ///
  /// - Throws: 404 when none was announced, 410 when it is too late, 400 when nothing was sent, or for the second of the
  ///   day; 413, 415 and 422 as for an upload.
  func confirm(_ id: PhotoID, by user: UserID) async throws {
    let now = now()
    guard case .waiting(let group) = try await store.announced(id, by: user, at: now) else { return }
    let photo = Photo(id: id, group: group, sender: user, sentAt: now)
    do {
      let renditions = try await renderedOriginal(of: id)
      try await keep(renditions, of: id)
      try await store.database.write { db in
        try news.add(photo, on: PhotoStore.confirm(photo, renditions.measures, on: db), db)
      }
      news.ring()
    } catch let failure as Failure where [.photoGone, .nothingUploaded].contains(failure) {
      // Somebody may have confirmed it in the meantime.
      guard try await isSent(id, by: user, at: now) else {
        // Taken back meanwhile, and perhaps swept before these bytes came.
        if failure == .photoGone { await takeBack(id) }
        throw failure
      }
    }
    try await files.delete([PhotoFileName(id, .original)])
  }

  private func isSent(_ id: PhotoID, by user: UserID, at now: Date) async throws -> Bool {
    do { return try await store.announced(id, by: user, at: now) == .sent } catch is Failure { return false }
  }

  private func renderedOriginal(of id: PhotoID) async throws -> Renditions {
    do {
      guard let original = try await files.original(of: id, into: local.incoming) else { throw Failure.nothingUploaded }
      return try await renderer.renditions(of: original)
    } catch let failure as Failure where [.tooLarge, .unsupportedType, .unprocessable].contains(failure.kind) {
      // Another may be sent in its place.
      try await files.delete([PhotoFileName(id, .original)])
      throw failure
    }
  }

  private func keep(_ renditions: Renditions, of id: PhotoID) async throws {
    for size in PhotoSize.allCases { try await files.store(renditions[size], as: PhotoFileName(id, size: size)) }
  }

  /// Also when the request has been called off. What cannot be deleted now the sweeper finds.
  private func takeBack(
    _ id: PhotoID, _ kinds: [PhotoFileName.Kind] = PhotoFileName.Kind.allCases
  ) async {
    await Task { [files] in
      // `try?`: as said above.
      try? await files.delete([id], kinds)
    }.value
  }
}

struct SentPhotoBody: Encodable {
  let photo_id: PhotoID
  let expires_at: Date
}

extension Failure {
  static let nothingUploaded = Failure(
    .malformed, "nothing_uploaded", "Send the photo to its upload_url before confirming it.")
}
