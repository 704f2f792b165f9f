import Synchronization
import Wire

/// Gives each user two requests at a time, so that no one occupies all connections of a database with queries, or
/// conditions of changes, that take long: their other requests wait for their turn. Those of milliseconds hardly do.
final class RequestTurns: Sendable {
  private struct Turns {
    var running = 0
    /// The first is the next.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let turns = Mutex<[UserID: Turns]>([:])
  private static let runningMax = 2
  private static let waitingMax = 64

  /// Returns when a request of the user may run. It is followed by ``end(_:)`` unless it throws.
  ///
  /// - Throws: 429 when too many wait already.
  func begin(_ user: UserID) async throws {
    guard try !beginAtOnce(user) else { return }
    await withCheckedContinuation { continuation in
      if beginOrWait(user, continuation) { continuation.resume() }
    }
    guard Task.isCancelled else { return }
    end(user)
    throw CancellationError()
  }

  /// The turn of a request that has ended is that of the next one.
  func end(_ user: UserID) {
    let next = turns.withLock { turns -> CheckedContinuation<Void, Never>? in
      guard var own = turns[user] else { return nil }
      guard own.waiting.isEmpty else {
        let next = own.waiting.removeFirst()
        turns[user] = own
        return next
      }
      own.running -= 1
      turns[user] = own.running == 0 ? nil : own
      return nil
    }
    next?.resume()
  }

  func waitingCount(of user: UserID) -> Int { turns.withLock { $0[user]?.waiting.count ?? 0 } }

  private func beginAtOnce(_ user: UserID) throws -> Bool {
    try turns.withLock { turns in
      let own = turns[user] ?? Turns()
      guard own.waiting.count < Self.waitingMax else { throw Failure.tooManyAtOnce }
      guard own.running < Self.runningMax else { return false }
      turns[user, default: Turns()].running += 1
      return true
    }
  }

  /// Returns false for one that waits.
  private func beginOrWait(_ user: UserID, _ continuation: CheckedContinuation<Void, Never>) -> Bool {
    turns.withLock { turns in
      // A request may have ended since it was looked at.
      guard turns[user]?.running ?? 0 >= Self.runningMax else {
        turns[user, default: Turns()].running += 1
        return true
      }
      turns[user, default: Turns()].waiting.append(continuation)
      return false
    }
  }
}

extension Failure {
  static let tooManyAtOnce = Failure(
    .limited, "too_many_at_once", "Too many requests are waiting for others of the same user.", retryAfterSeconds: 1)
}
