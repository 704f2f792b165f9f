import Foundation
import Support
import Synchronization
import Testing
import Wire

@testable import RestRoutes

/// How many requests of one person run at a time.
@Suite struct RequestTurnTests {
  private let turns = RequestTurns()
  private let alice = UserID.new(at: Date())
  private let bob = UserID.new(at: Date())

  @Test func twoRunAndTheOthersComeAfterThem() async throws {
    let running = Running()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 {
        group.addTask { [turns, alice] in
          try await turns.begin(alice)
          running.counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.total + 1) }
          try await Task.sleep(for: .milliseconds(2))
          running.counts.withLock { $0.now -= 1 }
          turns.end(alice)
        }
      }
      try await group.waitForAll()
    }
    #expect(running.counts.withLock { $0 } == (0, 2, 50))
  }

  private final class Running: Sendable {
    let counts = Mutex((now: 0, most: 0, total: 0))
  }

  @Test func onePersonsRequestsDoNotKeepAnotherWaiting() async throws {
    for _ in 0..<2 { try await turns.begin(alice) }
    for _ in 0..<2 { try await turns.begin(bob) }
    // The third of alice's waits until one of her first two has ended.
    let third = Task { [turns, alice] in try await turns.begin(alice) }
    try await eventually("it") { turns.waitingCount(of: alice) == 1 }
    turns.end(bob)
    #expect(turns.waitingCount(of: alice) == 1)
    turns.end(alice)
    try await third.value
    #expect(turns.waitingCount(of: alice) == 0)
  }

  @Test func tooManyThatWaitAreRefused() async throws {
    for _ in 0..<2 { try await turns.begin(alice) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<64 {
        group.addTask { [turns, alice] in
          try await turns.begin(alice)
          turns.end(alice)
        }
      }
      try await eventually("all of them") { turns.waitingCount(of: alice) == 64 }
      await #expect(throws: Failure.tooManyAtOnce) { try await turns.begin(alice) }
      try await turns.begin(bob)
      for user in [alice, alice, bob] { turns.end(user) }
      try await group.waitForAll()
    }
    #expect(turns.waitingCount(of: alice) == 0)
    try await turns.begin(alice)
  }

  @Test func whoHasGoneMeanwhileTakesNoTurn() async throws {
    for _ in 0..<2 { try await turns.begin(alice) }
    let gone = Task { [turns, alice] in try await turns.begin(alice) }
    try await eventually("it") { turns.waitingCount(of: alice) == 1 }
    gone.cancel()
    turns.end(alice)
    await #expect(throws: CancellationError.self) { try await gone.value }
    // Its turn is free again.
    try await turns.begin(alice)
    #expect(turns.waitingCount(of: alice) == 0)
  }
}
