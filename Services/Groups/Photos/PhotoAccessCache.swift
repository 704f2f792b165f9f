import Foundation
import Synchronization
import Wire

/// Caches for a second which photos a viewer may see, as the database has returned them: an app fetches the files of
/// photos right after it has listed them.
///
/// A block, a departure or a deletion in this process invalidates the cache at once; one in another process takes
/// effect here within a second.
final class PhotoAccessCache: Sendable {
  private struct Key: Hashable {
    let photo: PhotoID
    let viewer: UserID
  }

  private struct Entry {
    let photo: Photo
    let expiresAt: ContinuousClock.Instant
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var invalidations = 0
  }

  /// The state of the cache before a query, whose result is cached only if the cache was not invalidated since.
  struct QueryStart: Sendable {
    fileprivate let invalidations: Int
    fileprivate let expiresAt: ContinuousClock.Instant
  }

  private let state = Mutex(State())
  private let lifetime: Duration
  private static let entriesMax = 20_000

  init(lifetime: Duration = .seconds(1)) { self.lifetime = lifetime }

  /// The cached photo; nil when the database must be queried.
  ///
  /// - Throws: 410 once the photo has expired.
  func photo(_ photo: PhotoID, for viewer: UserID, at now: Date) throws(Failure) -> Photo? {
    guard let entry = state.withLock({ $0.entries[Key(photo: photo, viewer: viewer)] }), entry.expiresAt > .now else {
      return nil
    }
    guard entry.photo.expiresAt > now else { throw .photoGone }
    return entry.photo
  }

  /// To be called before the database is queried.
  func queryStart() -> QueryStart {
    QueryStart(invalidations: state.withLock(\.invalidations), expiresAt: .now + lifetime)
  }

  /// Caches the result of a query that began at `start`, unless the cache was invalidated since: the result may be
  /// older.
  func insert(_ photos: [Photo], for viewer: UserID, since start: QueryStart) {
    state.withLock { state in
      guard state.invalidations == start.invalidations else { return }
      if state.entries.count + photos.count > Self.entriesMax { state.entries = [:] }
      for photo in photos {
        state.entries[Key(photo: photo.id, viewer: viewer)] = Entry(photo: photo, expiresAt: start.expiresAt)
      }
    }
  }

  /// Removes all entries. To be called after a change of who may see a photo is committed, and before it is answered.
  func invalidate() {
    state.withLock { state in
      state.invalidations += 1
      state.entries = [:]
    }
  }
}
