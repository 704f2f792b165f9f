import NIOCore
import NIOPosix
import Synchronization

/// Counts changes, and lets tasks wait for the next one instead of polling.
package final class ChangeSignal: Sendable {
  private struct Waiter {
    let continuation: CheckedContinuation<Void, Never>
    var timer: Scheduled<Void>?
  }

  private struct State {
    var version = 0
    var lastID = 0
    var waiters: [Int: Waiter] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// Grows with each change. Read it before looking for work, so that a change in between ends the next wait at once.
  package var version: Int { state.withLock { $0.version } }

  package func send() {
    let waiters = state.withLock { state in
      state.version += 1
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { Self.resume(waiter) }
  }

  /// Returns when there has been a change after `version`, after `timeout`, or when the task is cancelled.
  ///
  /// - Parameter timeout: nil for no limit.
  package func wait(after version: Int, atMost timeout: Duration? = nil) async {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { add(Waiter(continuation: $0), id, after: version, atMost: timeout) }
    } onCancel: {
      remove(id)
    }
  }

  private func add(_ waiter: Waiter, _ id: Int, after version: Int, atMost timeout: Duration?) {
    let waits = state.withLock { state in
      // A task that was cancelled before is not among the waiters when `remove` looks for it.
      guard state.version == version, !Task.isCancelled else { return false }
      state.waiters[id] = waiter
      return true
    }
    guard waits else { return waiter.continuation.resume() }
    guard let timeout else { return }
    // A timer of an event loop, as a task that sleeps stays in memory until its time even when it is cancelled.
    let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(timeout)) { self.remove(id) }
    let stillWaits = state.withLock { state in
      state.waiters[id]?.timer = timer
      return state.waiters[id] != nil
    }
    if !stillWaits { timer.cancel() }
  }

  private func remove(_ id: Int) {
    if let waiter = state.withLock({ $0.waiters.removeValue(forKey: id) }) { Self.resume(waiter) }
  }

  private static func resume(_ waiter: Waiter) {
    waiter.timer?.cancel()
    waiter.continuation.resume()
  }
}
