import Foundation
import Logging
import Photos
import ServiceLifecycle
import Web
import Wire

/// Deletes discarded files from the storage, five seconds after changes of the database and every minute: first the
/// bytes, then the row, so that the next run finishes after a crash.
struct DiscardedFileSweep: Service {
  let store: DiscardedFileStore
  let files: any PhotoFiles
  let local: PhotoFolder
  let logger: Logger
  let now: @Sendable () -> Date
  var writes = ChangeSignal()
  var pollInterval = Duration.seconds(60)

  private static let batch = 200
  /// How long after a failed deletion a file is tried again, in seconds.
  private static let retryDelay: TimeInterval = 60

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await repeatAfterChanges(writes, atMost: pollInterval) {
            do { try await deleteDue() } catch {
              logger.warning("discarded files not deleted", metadata: ["error": "\(error)"])
            }
            return false
          }
        }
        group.addTask { await repeatUntilCancelled(every: .seconds(5)) { files.removeExpired() } }
        group.addTask {
          await repeatUntilCancelled(every: .seconds(600)) {
            do { try await local.clearIncoming(before: now() - DiscardedFileStore.pendingLifetime) } catch {
              logger.warning("incomplete files not deleted", metadata: ["error": "\(error)"])
            }
          }
        }
      }
    }
  }

  /// A file that cannot be deleted does not keep the others from being deleted.
  func deleteDue() async throws {
    while !Task.isCancelled {
      let due = try await store.due(at: now(), limit: Self.batch)
      guard !due.isEmpty else { return }
      var (deleted, left): ([StoredFileID], [StoredFileID]) = ([], [])
      for file in due {
        do {
          try await files.delete([file.uuid])
          deleted.append(file)
        } catch {
          try Task.checkCancellation()
          if left.isEmpty { logger.error("a file cannot be deleted", metadata: ["error": "\(error)"]) }
          left.append(file)
        }
      }
      try await store.delete(deleted)
      try await store.postpone(left, until: now() + Self.retryDelay)
    }
  }
}
