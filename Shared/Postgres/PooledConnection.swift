import Database
import Foundation

/// A thread and the connection that it owns. Jobs run on the thread one after the other, so libpq calls may block.
///
/// `@unchecked Sendable`: `jobs` and `isClosed` are only accessed under `condition`, `handle` and the state of
/// reconnecting only on the thread.
final class PooledConnection: @unchecked Sendable {
  private let condition = NSCondition()
  private var jobs: [@Sendable (PooledConnection) -> Void] = []
  private var isClosed = false

  private let open: @Sendable () throws -> ConnectionHandle
  private var handle: ConnectionHandle?
  private var failures = 0
  private var lastFailure: (any Error)?
  private var retryAt = Date.distantPast

  init(name: String, open: @escaping @Sendable () throws -> ConnectionHandle) {
    self.open = open
    let thread = Thread { [self] in runJobs() }
    thread.name = name
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Runs `job` on the thread, after all earlier jobs.
  func submit(_ job: @escaping @Sendable (PooledConnection) -> Void) {
    condition.lock()
    jobs.append(job)
    condition.unlock()
    // After the unlock, so that the thread that wakes up does not wait for it.
    condition.signal()
  }

  /// Runs `body` on the thread, after all earlier jobs, and waits for its result.
  func run<T: Sendable>(_ body: @escaping @Sendable (PooledConnection) throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      submit { connection in continuation.resume(with: Result { try body(connection) }) }
    }
  }

  /// Ends the thread and closes the connection after all submitted jobs have finished.
  func close() {
    condition.lock()
    isClosed = true
    condition.signal()
    condition.unlock()
  }

  private func runJobs() {
    while let job = nextJob() { job(self) }
    handle = nil
  }

  private func nextJob() -> (@Sendable (PooledConnection) -> Void)? {
    condition.lock()
    defer { condition.unlock() }
    while jobs.isEmpty {
      if isClosed { return nil }
      condition.wait()
    }
    return jobs.removeFirst()
  }

  // MARK: On the thread

  /// The open connection; opens one when there is none. While the server is away, connection attempts are spaced out
  /// (50 ms doubling to 1 s, with jitter) and calls in between fail at once, for the reason of the last attempt.
  func openHandle() throws -> ConnectionHandle {
    if let handle, handle.isOpen { return handle }
    handle = nil
    if let lastFailure, Date() < retryAt { throw lastFailure }
    do {
      let opened = try open()
      handle = opened
      (failures, lastFailure) = (0, nil)
      return opened
    } catch {
      (failures, lastFailure) = (min(failures + 1, 6), error)
      let wait = min(1, 0.05 * Double(1 << (failures - 1)))
      retryAt = Date(timeIntervalSinceNow: wait * Double.random(in: 0.5...1))
      throw error
    }
  }

  /// Closes a connection whose state is unknown. The next ``openHandle()`` opens another.
  func discardHandle() { handle = nil }
}
