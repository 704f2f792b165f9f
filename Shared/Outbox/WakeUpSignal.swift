import Synchronization

/// Wakes a waiting worker. A signal that is sent while no worker waits ends the next wait at once.
final class WakeUpSignal: Sendable {
  private struct State {
    var isPending = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func send() {
    let waiter = state.withLock { state in
      let waiter = state.waiter
      state.waiter = nil
      state.isPending = waiter == nil
      return waiter
    }
    waiter?.resume()
  }

  /// Returns when a signal is sent, after `timeout`, or when the task is cancelled. For one waiter at a time.
  func wait(atMost timeout: Duration) async {
    let timer = Task {
      try await Task.sleep(for: timeout)
      send()
    }
    defer { timer.cancel() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let wasPending = state.withLock { state in
          if !state.isPending { state.waiter = waiter }
          defer { state.isPending = false }
          return state.isPending
        }
        if wasPending { waiter.resume() }
      }
    } onCancel: {
      send()
    }
  }
}
