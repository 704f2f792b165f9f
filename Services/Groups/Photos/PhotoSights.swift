import Foundation
import Synchronization
import Wire

/// Which photos somebody may see, as the database has said within the last second: an app that has just been told of photos
/// fetches their bytes at once.
///
/// What ends it in this process, a block, a departure or a deletion, ends it at once; what happens in another, a second
/// later at most.
final class PhotoSights: Sendable {
  private struct Sight: Hashable {
    let photo: PhotoID
    let viewer: UserID
  }

  private struct Entry {
    let photo: Photo
    let until: ContinuousClock.Instant
  }

  private struct State {
    var entries: [Sight: Entry] = [:]
    var endings = 0
  }

  /// The state of affairs in which the database was asked.
  struct Moment: Sendable {
    fileprivate let endings: Int
    fileprivate let until: ContinuousClock.Instant
  }

  private let state = Mutex(State())
  private let lifetime: Duration
  private static let entriesMax = 20_000

  init(lifetime: Duration = .seconds(1)) { self.lifetime = lifetime }

  /// - Throws: 410 once the photo has ended; the time is looked at each time.
  func photo(_ photo: PhotoID, for viewer: UserID, at now: Date) throws(Failure) -> Photo? {
    guard let entry = state.withLock({ $0.entries[Sight(photo: photo, viewer: viewer)] }), entry.until > .now else {
      return nil
    }
    guard entry.photo.expiresAt > now else { throw .photoGone }
    return entry.photo
  }

  /// To be taken before the database is asked.
  func moment() -> Moment { Moment(endings: state.withLock(\.endings), until: .now + lifetime) }

  /// Nothing, if something has ended somewhere since `moment`: the answer may have been from before that.
  func remember(_ photos: [Photo], for viewer: UserID, since moment: Moment) {
    state.withLock { state in
      guard state.endings == moment.endings else { return }
      if state.entries.count + photos.count > Self.entriesMax { state.entries = [:] }
      for photo in photos {
        state.entries[Sight(photo: photo.id, viewer: viewer)] = Entry(photo: photo, until: moment.until)
      }
    }
  }

  /// Something has ended for somebody. To be called once the database knows it, and before anybody is told.
  func end() {
    state.withLock { state in
      state.endings += 1
      state.entries = [:]
    }
  }
}
