import Foundation
import Support
import Synchronization
import Testing

@testable import Auth

/// Worker threads for blocking work.
@Suite struct WorkerThreadsTests {
  /// Work that blocks until the test releases it.
  private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let counts = Mutex((entered: 0, inside: 0, most: 0))

    var entered: Int { counts.withLock { $0.entered } }
    var most: Int { counts.withLock { $0.most } }

    func pass() {
      counts.withLock { counts in
        counts.entered += 1
        counts.inside += 1
        counts.most = max(counts.most, counts.inside)
      }
      semaphore.wait()
      counts.withLock { $0.inside -= 1 }
    }

    func open(for count: Int) { for _ in 0..<count { semaphore.signal() } }
  }

  @Test func thereAreAsManyAsWasSaidAndTheQueueIsBounded() async throws {
    let (threads, gate) = (WorkerThreads("test", threads: 2, waitingMax: 3), Gate())
    let accepted = (0..<5).map { _ in Task { try await threads.run { gate.pass() } } }
    try await eventually("a full queue") { gate.entered == 2 && threads.waiting == 3 }
    await #expect(throws: WorkerThreads.QueueFull.self) { try await threads.run { gate.pass() } }
    gate.open(for: 5)
    for task in accepted { try await task.value }
    #expect(gate.entered == 5)
    #expect(gate.most == 2)
    #expect(try await threads.run { "free again" } == "free again")
  }

  @Test func whoLeavesTheQueueMakesRoomAndIsNeverWorkedFor() async throws {
    let (threads, gate) = (WorkerThreads("test", threads: 1, waitingMax: 1), Gate())
    let working = Task { try await threads.run { gate.pass() } }
    try await eventually("a thread at work") { gate.entered == 1 }
    let waiting = Task { try await threads.run { gate.pass() } }
    try await eventually("one who waits") { threads.waiting == 1 }
    await #expect(throws: WorkerThreads.QueueFull.self) { try await threads.run {} }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(threads.waiting == 0)
    let next = Task { try await threads.run { "next" } }
    try await eventually("the next") { threads.waiting == 1 }
    gate.open(for: 1)
    try await working.value
    #expect(try await next.value == "next")
    #expect(gate.entered == 1)
  }

  @Test func whoWasCancelledBeforeIsNotEnqueued() async throws {
    let (threads, gate) = (WorkerThreads("test", threads: 1, waitingMax: 1), Gate())
    gate.open(for: 1)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await threads.run { gate.pass() }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(gate.entered == 0)
  }

  @Test func whatWorkThrowsItsCallerCatches() async throws {
    let threads = WorkerThreads("test", threads: 1, waitingMax: 1)
    await #expect(throws: Unexpected.self) { try await threads.run { throw Unexpected(reply: "") } }
    #expect(try await threads.run { 7 } == 7)
  }

  @Test func manyAtOnceAreEachAnsweredOnce() async throws {
    let threads = WorkerThreads("test", threads: 4, waitingMax: 100)
    let answers = try await atOnce(100) { index in try await threads.run { index } }
    #expect(answers.sorted() == Array(0..<100))
  }
}
