import Synchronization

/// Wakes a worker. Rung while nobody waits, it is heard by the next who does.
final class Bell: Sendable {
  private struct State {
    var isRung = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func ring() {
    let waiter = state.withLock { state in
      let waiter = state.waiter
      state.waiter = nil
      state.isRung = waiter == nil
      return waiter
    }
    waiter?.resume()
  }

  /// Returns when somebody rings, after `longest`, or when the task is cancelled. For one waiter at a time.
  func wait(atMost longest: Duration) async {
    let timer = Task {
      try await Task.sleep(for: longest)
      ring()
    }
    defer { timer.cancel() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let wasRung = state.withLock { state in
          if !state.isRung { state.waiter = waiter }
          defer { state.isRung = false }
          return state.isRung
        }
        if wasRung { waiter.resume() }
      }
    } onCancel: {
      ring()
    }
  }
}
