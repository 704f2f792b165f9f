import Clients
import Foundation
import Synchronization
import Wire

/// Decides who may read a file: its owner, everybody for a public bucket, and who sees a submission that names it,
/// which the adventures service knows. Its answers are cached for some seconds.
final class StoredObjectAccess: Sendable {
  private struct Key: Hashable {
    let name: StoredObjectName
    let viewer: UserID
  }

  private let store: StoredObjectStore
  private let isShown: @Sendable (_ photo: StoredObjectName, _ viewer: UserID) async throws -> Bool
  private let lifetime: Duration
  private let shownUntil = Mutex<[Key: ContinuousClock.Instant]>([:])
  private static let entriesMax = 10_000

  init(
    store: StoredObjectStore, lifetime: Duration = .seconds(5),
    isShown: @escaping @Sendable (_ photo: StoredObjectName, _ viewer: UserID) async throws -> Bool
  ) {
    self.store = store
    self.lifetime = lifetime
    self.isShown = isShown
  }

  /// - Parameter viewer: nil for somebody who is not signed in.
  /// - Throws: 404 when there is no such file, and for a viewer who may not read it.
  func object(_ name: StoredObjectName, for viewer: UserID?) async throws -> StoredObject {
    guard name.bucket.isPublic || viewer != nil, let object = try await store.object(name) else {
      throw Failure.objectNotFound
    }
    if name.bucket.isPublic || viewer == name.owner { return object }
    guard let viewer, try await isVisible(name, to: viewer) else { throw Failure.objectNotFound }
    return object
  }

  private func isVisible(_ name: StoredObjectName, to viewer: UserID) async throws -> Bool {
    let key = Key(name: name, viewer: viewer)
    if let end = shownUntil.withLock({ $0[key] }), end > .now { return true }
    let end = ContinuousClock.now + lifetime
    guard try await isShown(name, viewer) else { return false }
    shownUntil.withLock { shown in
      if shown.count >= Self.entriesMax { shown = [:] }
      shown[key] = end
    }
    return true
  }
}
