import Support
import Testing

@testable import Web

@Suite struct ChangeSignalTests {
  @Test func aChangeEndsTheWaitAndOneBeforeItToo() async throws {
    let signal = ChangeSignal()
    let before = signal.version
    let waiting = Task { await signal.wait(after: before) }
    try await Task.sleep(for: .milliseconds(20))
    signal.send()
    await waiting.value
    await signal.wait(after: before)
    #expect(signal.version == before + 1)
  }

  @Test func aWaitEndsAfterItsTimeAndWhenItIsCancelled() async throws {
    let signal = ChangeSignal()
    let began = ContinuousClock.now
    await signal.wait(after: signal.version, atMost: .milliseconds(50))
    #expect(ContinuousClock.now - began >= .milliseconds(50))
    await signal.wait(after: signal.version, atMost: .zero)
    let waiting = Task { await signal.wait(after: signal.version) }
    try await Task.sleep(for: .milliseconds(20))
    waiting.cancel()
    await waiting.value
    // Also when it was cancelled before it began to wait.
    let cancelled = Task {
      while !Task.isCancelled { await Task.yield() }
      await signal.wait(after: signal.version)
    }
    cancelled.cancel()
    await cancelled.value
  }

  /// Waits, changes, timeouts and cancellations at the same time: every wait ends, and only once.
  @Test func allWaitersComeToAnEndWhateverRaces() async throws {
    let signal = ChangeSignal()
    let ended = await withTaskGroup(of: Void.self) { group in
      for number in 0..<2000 {
        group.addTask {
          let waiting = Task {
            await signal.wait(after: signal.version, atMost: .microseconds(Int64.random(in: 0...3000)))
          }
          if number % 3 == 0 { waiting.cancel() }
          if number % 5 == 0 { signal.send() }
          await waiting.value
        }
      }
      return await group.reduce(into: 0) { count, _ in count += 1 }
    }
    #expect(ended == 2000)
  }
}
