import DequeModule
import Synchronization

/// Runs at most so many pieces of work at the same time; the others wait, first come first served.
final class ConcurrencyLimit: Sendable {
  private struct State {
    var running = 0
    var waiting: Deque<CheckedContinuation<Void, Never>> = []
  }

  private let state = Mutex(State())
  private let max: Int

  init(_ max: Int) { self.max = max }

  func run<T: Sendable>(_ work: @Sendable () async throws -> T) async rethrows -> T {
    await begin()
    defer { end() }
    return try await work()
  }

  private func begin() async {
    await withCheckedContinuation { continuation in
      let mayRun = state.withLock { state in
        if state.running < max {
          state.running += 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if mayRun { continuation.resume() }
    }
  }

  /// The next in line takes the place.
  private func end() {
    let next = state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.running -= 1 }
      return next
    }
    next?.resume()
  }
}
