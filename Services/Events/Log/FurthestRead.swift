import Synchronization

/// The furthest end of the log that any reader of this process has seen. Readers read pages of their own, and may be
/// ahead of ``LogTail``: a database that is set back to a place between them was set back all the same.
final class FurthestRead: Sendable {
  private let seen = Mutex<LogStore.End?>(nil)

  var end: LogStore.End? { seen.withLock { $0 } }

  /// Called with the end that each reading of the log has found.
  func note(_ end: LogStore.End) {
    seen.withLock { seen in
      guard let known = seen else { return seen = end }
      // A reading of the epoch before, which took long, says nothing.
      if known.epoch == end.epoch, known.position < end.position { seen = end }
    }
  }

  /// Forgets what was seen of an earlier epoch.
  func reset(to end: LogStore.End) { seen.withLock { $0 = end } }
}
