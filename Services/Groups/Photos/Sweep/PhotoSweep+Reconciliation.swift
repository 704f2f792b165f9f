import Foundation
import Photos
import Wire

/// Reconciles the files in the storage with the rows in the database.
extension PhotoSweep {
  /// Files and rows younger than this may belong to a request that is still running.
  private static let grace: TimeInterval = 10 * 60

  /// Deletes files without a row and ends photos without files: a crash leaves them, or a database or disk that was
  /// restored from a backup. Files and rows are both read in the order of the ids.
  func reconcile() async throws {
    let before = now() - Self.grace
    try await local.clearIncoming(before: before)
    guard try await isOwnStorage(olderThan: before) else {
      return logger.error(
        "photos not compared: these are not the photos of this database (PHOTO_STORAGE, DATABASE_URL)")
    }
    var last: PhotoFileName?
    var done: PhotoID?
    var carriedOver: [PhotoFileName] = []
    while !Task.isCancelled {
      let page = try await files.list(after: last)
      last = page.last
      // The files of the last photo may continue on the next page.
      let end = last?.photo
      let found = Dictionary(grouping: carriedOver + page) { $0.photo }
      carriedOver = end.flatMap { found[$0] } ?? []
      let complete = found.filter { $0.key != end }
      try await deleteOrphans(complete.keys.filter { $0.isOlder(than: before) })
      try await deleteOriginals(complete.filter { $0.value.contains { $0.kind == .original } }.map(\.key))
      try await endIncomplete(from: done, before: end, found: complete, olderThan: before)
      done = end
      guard end != nil else { return }
    }
  }

  private func deleteOrphans(_ photos: [PhotoID]) async throws {
    try await inBatches(photos) { batch in
      let existing = try await store.existing(among: batch)
      let orphans = batch.filter { !existing.contains($0) }
      guard !orphans.isEmpty else { return }
      logger.warning("deleting photos that nothing knows of", metadata: ["count": "\(orphans.count)"])
      _ = try await delete(orphans)
    }
  }

  /// Deletes originals that were uploaded again after their photo was confirmed.
  private func deleteOriginals(_ photos: [PhotoID]) async throws {
    try await inBatches(photos) { batch in
      let ready = try await store.ready(among: batch)
      if !ready.isEmpty { _ = try await delete(ready, [.original]) }
    }
  }

  /// Ends visible photos that lack a file.
  ///
  /// - Parameter first: the photo to begin with: the last one of the previous page.
  private func endIncomplete(
    from first: PhotoID?, before end: PhotoID?, found: [PhotoID: [PhotoFileName]], olderThan before: Date
  ) async throws {
    var last: PhotoID?
    while !Task.isCancelled {
      let ready = try await store.ready(from: first, after: last, before: end, limit: Self.batch)
      guard let newest = ready.last else { return }
      last = newest
      var incomplete: [PhotoID] = []
      for photo in ready where photo.isOlder(than: before) && !Self.isComplete(found[photo] ?? []) {
        // Its files may have been stored since the listing.
        if try await isMissingFiles(photo) { incomplete.append(photo) }
      }
      guard !incomplete.isEmpty else { continue }
      logger.error("photos have lost their bytes", metadata: ["count": "\(incomplete.count)"])
      try await store.end(incomplete, at: now())
    }
  }

  private static func isComplete(_ names: [PhotoFileName]) -> Bool {
    names.count { $0.kind != .original } == PhotoSize.allCases.count
  }

  /// False for a file that cannot be read at the moment: it may exist.
  private func isMissingFiles(_ photo: PhotoID) async throws -> Bool {
    for size in PhotoSize.allCases {
      do {
        if try await files.read(PhotoFileName(photo, size: size), .from(0, through: 0)) == nil { return true }
      } catch {
        try Task.checkCancellation()
        logger.warning("a photo cannot be read", metadata: ["photo": "\(photo)", "error": "\(error)"])
      }
    }
    return false
  }

  private func inBatches(_ photos: [PhotoID], _ work: ([PhotoID]) async throws -> Void) async throws {
    for start in stride(from: 0, to: photos.count, by: Self.batch) where !Task.isCancelled {
      try await work(Array(photos[start..<min(start + Self.batch, photos.count)]))
    }
  }
}
