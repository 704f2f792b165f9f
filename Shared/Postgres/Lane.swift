import Database
import Foundation

/// A thread and the one connection that it owns. Jobs run on it one after the other, so libpq may block.
///
/// `@unchecked Sendable`: `jobs` and `isClosed` are only touched under `condition`, `link` and what concerns reconnecting
/// only on the thread.
final class Lane: @unchecked Sendable {
  private let condition = NSCondition()
  private var jobs: [@Sendable (Lane) -> Void] = []
  private var isClosed = false

  private let open: @Sendable () throws -> Link
  private var link: Link?
  private var failures = 0
  private var retryAt = Date.distantPast

  init(name: String, open: @escaping @Sendable () throws -> Link) {
    self.open = open
    let thread = Thread { [self] in work() }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Runs `job` on the thread, after those that were given before.
  func give(_ job: @escaping @Sendable (Lane) -> Void) {
    condition.lock()
    jobs.append(job)
    condition.signal()
    condition.unlock()
  }

  /// The same for somebody who waits for what comes of it.
  func run<T: Sendable>(_ body: @escaping @Sendable (Lane) throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      give { lane in continuation.resume(with: Result { try body(lane) }) }
    }
  }

  /// Lets what was given finish, then ends the thread and closes the connection.
  func close() {
    condition.lock()
    isClosed = true
    condition.signal()
    condition.unlock()
  }

  private func work() {
    while let job = next() { job(self) }
    link = nil
  }

  private func next() -> (@Sendable (Lane) -> Void)? {
    condition.lock()
    defer { condition.unlock() }
    while jobs.isEmpty {
      if isClosed { return nil }
      condition.wait()
    }
    return jobs.removeFirst()
  }

  // MARK: On the thread

  /// The connection, opened when there is none. While the server is away, tries are spaced out (50 ms doubling to 2 s,
  /// with jitter) and calls in between fail at once.
  func connected() throws -> Link {
    if let link, link.isOpen { return link }
    link = nil
    guard Date() >= retryAt else { throw DatabaseFailure.unavailable("the database is away") }
    do {
      let opened = try open()
      link = opened
      failures = 0
      return opened
    } catch {
      failures = min(failures + 1, 6)
      let wait = min(2, 0.05 * Double(1 << (failures - 1)))
      retryAt = Date(timeIntervalSinceNow: wait * Double.random(in: 0.5...1))
      throw error
    }
  }

  /// Forgets a connection whose state is not known.
  func drop() { link = nil }
}
