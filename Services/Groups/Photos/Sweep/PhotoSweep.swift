import Foundation
import Logging
import Photos
import ServiceLifecycle
import Web
import Wire

/// Deletes photos that have ended, in batches, five seconds after changes of the database and every minute: first the
/// files, then the row, so that the next run finishes after a crash. Every ten minutes it reconciles the stored files
/// with the rows. Not a `PeriodicSweep`: it has several jobs with intervals of their own.
struct PhotoSweep: Service {
  let store: PhotoSweepStore
  let files: any PhotoFiles
  let local: PhotoFolder
  let logger: Logger
  let now: @Sendable () -> Date
  var writes = ChangeSignal()
  var pollInterval = Duration.seconds(60)

  static let batch = 200
  /// How long after a failed deletion a photo is tried again, in seconds.
  static let retryDelay: TimeInterval = 60

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await repeatAfterChanges(writes, atMost: pollInterval) {
            await loggingErrors("ended photos not deleted") { try await deleteEnded() }
            await loggingErrors("closed groups not forgotten") { try await deleteClosedGroups() }
            return false
          }
        }
        group.addTask { await repeatUntilCancelled(every: .seconds(5)) { files.removeExpired() } }
        // A task of its own: listing a storage may take long, and the deletion of ended photos must not wait for it.
        group.addTask {
          await repeatUntilCancelled(every: .seconds(600)) {
            await loggingErrors("photos not compared") { try await reconcile() }
          }
        }
      }
    }
  }

  func deleteEnded() async throws {
    while !Task.isCancelled {
      let ended = try await store.ended(at: now(), limit: Self.batch)
      guard !ended.isEmpty else { return }
      let deleted = Set(try await delete(ended))
      try await store.delete(Array(deleted), at: now())
      let retry = now() + Self.retryDelay
      try await store.postpone(ended.filter { !deleted.contains($0) }, until: retry, at: now())
    }
  }

  func deleteClosedGroups() async throws {
    while !Task.isCancelled {
      let closed = try await store.closedGroups(limit: Self.batch)
      guard !closed.isEmpty else { return }
      try await store.delete(closed)
    }
  }

  /// Deletes the files of photos. A failure for one photo does not keep the others from being deleted.
  ///
  /// - Returns: the photos whose files were deleted.
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

  private func loggingErrors(_ message: Logger.Message, _ work: () async throws -> Void) async {
    do { try await work() } catch { logger.warning(message, metadata: ["error": "\(error)"]) }
  }
}
