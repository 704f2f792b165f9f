import Synchronization
import Web

/// Wakes those who wait for events of a generation in this process.
final class GenerationSignals: Sendable {
  private struct Entry {
    let signal = ChangeSignal()
    var waiterCount = 0
  }

  private let entries = Mutex<[TimepointID: Entry]>([:])

  func send(_ timepoint: TimepointID) { entries.withLock { $0[timepoint]?.signal }?.send() }

  /// The signal of a timepoint while `body` runs.
  func watching<T>(_ timepoint: TimepointID, _ body: (ChangeSignal) async throws -> T) async rethrows -> T {
    let signal = entries.withLock { entries in
      entries[timepoint, default: Entry()].waiterCount += 1
      return entries[timepoint, default: Entry()].signal
    }
    defer {
      entries.withLock { entries in
        entries[timepoint]?.waiterCount -= 1
        if entries[timepoint]?.waiterCount == 0 { entries[timepoint] = nil }
      }
    }
    return try await body(signal)
  }
}
