import Synchronization

/// Something that has happened or not.
final class Flag: Sendable {
  private let happened = Mutex(false)

  var isSet: Bool { happened.withLock { $0 } }

  func set() { happened.withLock { $0 = true } }
}
