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

  static let batch = 200
  /// How long what could not be deleted is left alone.
  static let pause: TimeInterval = 60

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await repeating(every: .seconds(5)) {
            await trying("ended photos not deleted") { try await deleteEnded() }
            await trying("closed groups not forgotten") { try await forgetClosedGroups() }
          }
        }
        group.addTask { await repeating(every: .seconds(5)) { files.tidy() } }
        // By itself: a store may take long to say what it has, and ended photos do not wait for that.
        group.addTask {
          await repeating(every: .seconds(600)) { await trying("photos not compared") { try await compare() } }
        }
      }
    }
  }

  func deleteEnded() async throws {
    while !Task.isCancelled {
      let ended = try await remains.ended(at: now(), limit: Self.batch)
      guard !ended.isEmpty else { return }
      let deleted = Set(try await delete(ended))
      try await remains.forget(Array(deleted))
      try await remains.postpone(ended.filter { !deleted.contains($0) }, until: now() + Self.pause)
    }
  }

  func forgetClosedGroups() async throws {
    while !Task.isCancelled {
      let closed = try await remains.closedGroups(limit: Self.batch)
      guard !closed.isEmpty else { return }
      try await remains.forget(closed)
    }
  }

  /// Says which photos are gone: one that the store does not let go of keeps none of the others.
  func delete(
    _ photos: [PhotoID], _ kinds: [PhotoFileName.Kind] = PhotoFileName.Kind.allCases
  ) async throws -> [PhotoID] {
    do {
      try await files.delete(photos, kinds)
      return photos
    } catch { try Task.checkCancellation() }
    var (deleted, failure): ([PhotoID], (any Error)?) = ([], nil)
    for photo in photos {
      do {
        try await files.delete([photo], kinds)
        deleted.append(photo)
      } catch { failure = error }
      try Task.checkCancellation()
    }
    if let failure {
      let left = photos.count - deleted.count
      logger.error("photos cannot be deleted", metadata: ["count": "\(left)", "error": "\(failure)"])
    }
    return deleted
  }

  private func repeating(every interval: Duration, _ work: () async -> Void) async {
    while !Task.isCancelled {
      await work()
      // `try?`: cancelled means that the server stops, which the loop sees.
      try? await Task.sleep(for: interval)
    }
  }

  private func trying(_ words: Logger.Message, _ work: () async throws -> Void) async {
    do { try await work() } catch { logger.warning(words, metadata: ["error": "\(error)"]) }
  }
}
