import Foundation
import Logging
import ServiceLifecycle
import Wire

/// Deletes photos that have ended, every five seconds and a batch at a time: first the bytes, then the row, so that a
/// crash in between is made good the next time. Every ten minutes it compares what is stored with what should be.
struct PhotoSweep: Service {
  let remains: PhotoRemains
  let files: any PhotoFiles
  let local: PhotoFolder
  let logger: Logger
  let now: @Sendable () -> Date

  private static let batch = 200
  private static let every = Duration.seconds(5)
  private static let rounds = 120
  /// What is younger than this may belong to a request that is still running.
  private static let grace: TimeInterval = 10 * 60

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var round = 0
      while !Task.isCancelled {
        await trying("ended photos not deleted") { try await deleteEnded() }
        if round % Self.rounds == 0 { await trying("photos not compared") { try await compare() } }
        round += 1
        // `try?`: cancelled means that the server stops, which the loop sees.
        try? await Task.sleep(for: Self.every)
      }
    }
  }

  func deleteEnded() async throws {
    while !Task.isCancelled {
      let ended = try await remains.ended(at: now(), limit: Self.batch)
      guard !ended.isEmpty else { return }
      try await files.delete(ended)
      try await remains.forget(ended)
    }
  }

  /// Deletes bytes without a row, and ends rows without bytes: what a crash has left, or a database or a disk that was
  /// set back. Both sides are read in the order of the ids.
  func compare() async throws {
    let before = now() - Self.grace
    try await local.clearIncoming(before: before)
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
      try await endLost(after: done, before: end, found: whole, olderThan: before)
      done = end
      guard end != nil else { return }
    }
  }

  private func deleteUnknown(_ photos: [PhotoID]) async throws {
    var left = photos[...]
    while !left.isEmpty {
      let some = Array(left.prefix(Self.batch))
      left = left.dropFirst(Self.batch)
      let known = try await remains.known(among: some)
      let unknown = some.filter { !known.contains($0) }
      guard !unknown.isEmpty else { continue }
      logger.warning("deleting photos that nothing knows of", metadata: ["count": "\(unknown.count)"])
      try await files.delete(unknown)
    }
  }

  private func endLost(
    after first: PhotoID?, before end: PhotoID?, found: [PhotoID: [PhotoFileName]], olderThan before: Date
  ) async throws {
    var first = first
    while !Task.isCancelled {
      let ready = try await remains.ready(after: first, before: end, limit: Self.batch)
      guard let last = ready.last else { return }
      first = last
      var lost: [PhotoID] = []
      for photo in ready where photo.isOlder(than: before) && (found[photo]?.count ?? 0) < PhotoSize.allCases.count {
        // It may have come since the list was made.
        if try await isIncomplete(photo) { lost.append(photo) }
      }
      guard !lost.isEmpty else { continue }
      logger.error("photos have lost their bytes", metadata: ["count": "\(lost.count)"])
      try await remains.end(lost, at: now())
    }
  }

  private func isIncomplete(_ photo: PhotoID) async throws -> Bool {
    for size in PhotoSize.allCases {
      if try await files.read(PhotoFileName(photo, size: size), .from(0, through: 0)) == nil { return true }
    }
    return false
  }

  private func trying(_ words: Logger.Message, _ work: () async throws -> Void) async {
    do { try await work() } catch { logger.warning(words, metadata: ["error": "\(error)"]) }
  }
}
