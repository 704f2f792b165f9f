import Foundation
import Wire

/// How what is stored and what should be are brought together again.
extension PhotoSweep {
  /// What is younger than this may belong to a request that is still running.
  private static let grace: TimeInterval = 10 * 60

  /// Deletes bytes without a row, and ends rows without bytes: what a crash has left, or a database or a disk that was
  /// set back. Both sides are read in the order of the ids.
  func compare() async throws {
    let before = now() - Self.grace
    try await local.clearIncoming(before: before)
    guard try await isOwnStore(before: before) else {
      return logger.error(
        "photos not compared: these are not the photos of this database (PHOTO_STORAGE, DATABASE_URL)")
    }
    var last: PhotoFileName?
    var done: PhotoID?
    var carried: [PhotoFileName] = []
    while !Task.isCancelled {
      let page = try await files.list(after: last)
      last = page.last
      // A photo's names may go on on the next page.
      let end = last?.photo
      let found = Dictionary(grouping: carried + page) { $0.photo }
      carried = end.flatMap { found[$0] } ?? []
      let whole = found.filter { $0.key != end }
      try await deleteUnknown(whole.keys.filter { $0.isOlder(than: before) })
      try await deleteOriginals(whole.filter { $0.value.contains { $0.kind == .original } }.map(\.key))
      try await endLost(from: done, before: end, found: whole, olderThan: before)
      done = end
      guard end != nil else { return }
    }
  }

  private func deleteUnknown(_ photos: [PhotoID]) async throws {
    try await inBatches(photos) { some in
      let known = try await remains.known(among: some)
      let unknown = some.filter { !known.contains($0) }
      guard !unknown.isEmpty else { return }
      logger.warning("deleting photos that nothing knows of", metadata: ["count": "\(unknown.count)"])
      _ = try await delete(unknown)
    }
  }

  /// What was sent once more to the address of a photo that had been confirmed.
  private func deleteOriginals(_ photos: [PhotoID]) async throws {
    try await inBatches(photos) { some in
      let ready = try await remains.ready(among: some)
      if !ready.isEmpty { _ = try await delete(ready, [.original]) }
    }
  }

  /// - Parameter first: the photo with which to begin, which the page before has left to this one.
  private func endLost(
    from first: PhotoID?, before end: PhotoID?, found: [PhotoID: [PhotoFileName]], olderThan before: Date
  ) async throws {
    var last: PhotoID?
    while !Task.isCancelled {
      let ready = try await remains.ready(from: first, after: last, before: end, limit: Self.batch)
      guard let newest = ready.last else { return }
      last = newest
      var lost: [PhotoID] = []
      for photo in ready where photo.isOlder(than: before) && !Self.isWhole(found[photo] ?? []) {
        // It may have come since the list was made.
        if try await isIncomplete(photo) { lost.append(photo) }
      }
      guard !lost.isEmpty else { continue }
      logger.error("photos have lost their bytes", metadata: ["count": "\(lost.count)"])
      try await remains.end(lost, at: now())
    }
  }

  private static func isWhole(_ names: [PhotoFileName]) -> Bool {
    names.count { $0.kind != .original } == PhotoSize.allCases.count
  }

  /// False for what cannot be read at the moment: it may be there.
  private func isIncomplete(_ photo: PhotoID) async throws -> Bool {
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
