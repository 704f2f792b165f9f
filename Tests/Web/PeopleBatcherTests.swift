import Foundation
import Support
import Synchronization
import Testing
import Web
import Wire

@testable import Clients

/// Callers who ask auth for people at the same time share a call.
@Suite struct PeopleBatcherTests {
  /// An auth that answers when the test says so.
  private final class SlowAuth: Sendable {
    private let asked = Mutex<[Set<UserID>]>([])
    private let signal = ChangeSignal()
    private let isOpen = Flag()

    var calls: [Set<UserID>] { asked.withLock { $0 } }

    func open() {
      isOpen.raise()
      signal.send()
    }

    /// The first call is held.
    @Sendable func people(_ ids: Set<UserID>) async throws -> [UserID: Person] {
      let isFirst = asked.withLock { asked in
        asked.append(ids)
        return asked.count == 1
      }
      while isFirst, !isOpen.isRaised { await signal.wait(after: 0) }
      return Dictionary(uniqueKeysWithValues: ids.map { ($0, Person(id: $0, number: 1, name: "\($0)")) })
    }
  }

  private static func ids(_ count: Int) -> Set<UserID> { Set((0..<count).map { _ in UserID.new(at: Date()) }) }

  /// - Parameter body: called while the first call is held.
  private func withHeldCall(
    waitMax: Duration, _ body: (PeopleBatcher, SlowAuth) async throws -> Void
  ) async throws {
    let auth = SlowAuth()
    let batcher = PeopleBatcher(waitMax: waitMax, fetch: auth.people)
    let first = Self.ids(2)
    let held = Task { try await batcher.people(first) }
    try await eventually("the first call") { auth.calls == [first] }
    do { try await body(batcher, auth) } catch {
      auth.open()
      throw error
    }
    auth.open()
    let people = try await held.value
    #expect(Set(people.keys) == first)
  }

  /// Together they ask for as many as a call has, so it begins when the last of them has joined, and not before.
  @Test func whoAsksDuringACallSharesTheNextAndGetsTheirOwnPeople() async throws {
    try await withHeldCall(waitMax: .seconds(600)) { batcher, auth in
      let shared = Self.ids(PeopleQuery.idsMax / 50)
      let asked = (0..<10).map { _ in Self.ids((PeopleQuery.idsMax - shared.count) / 10).union(shared) }
      let callers = asked.map { ids in Task { try await batcher.people(ids) } }
      for (ids, caller) in zip(asked, callers) {
        let people = try await caller.value
        #expect(Set(people.keys) == ids && people.allSatisfy { $0.value.name == "\($0.key)" })
      }
      #expect(auth.calls.dropFirst() == [asked.reduce([]) { $0.union($1) }])
    }
  }

  @Test func theNextCallBeginsWhenTheOneBeforeHasEnded() async throws {
    try await withHeldCall(waitMax: .seconds(600)) { batcher, auth in
      let asked = (0..<5).map { _ in Self.ids(3) }
      let callers = asked.map { ids in Task { try await batcher.people(ids) } }
      try await Task.sleep(for: .milliseconds(50))
      #expect(auth.calls.count == 1)
      auth.open()
      for (ids, caller) in zip(asked, callers) {
        let people = try await caller.value
        #expect(Set(people.keys) == ids)
      }
      let last = Self.ids(1)
      let people = try await batcher.people(last)
      #expect(Set(people.keys) == last && auth.calls.last == last)
    }
  }

  @Test func aCallThatHangsDoesNotHoldUpOthers() async throws {
    try await withHeldCall(waitMax: .milliseconds(5)) { batcher, auth in
      for count in 1...3 {
        let ids = Self.ids(1)
        let people = try await batcher.people(ids)
        #expect(Set(people.keys) == ids && auth.calls.count == 1 + count)
      }
    }
  }

  @Test func whoIsCancelledLeavesAndOthersAreServed() async throws {
    try await withHeldCall(waitMax: .seconds(600)) { batcher, auth in
      let (gone, stays) = (Self.ids(1), Self.ids(1))
      let cancelled = Task { try await batcher.people(gone) }
      let other = Task { try await batcher.people(stays) }
      try await Task.sleep(for: .milliseconds(20))
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
      auth.open()
      let people = try await other.value
      #expect(Set(people.keys) == stays)
    }
  }

  /// A caller with little time left does not end the call for those who have more.
  @Test func aFailureReachesAllWhoShareTheCallAndTheNextIsMadeAnew() async throws {
    let deadlines = Mutex<[ContinuousClock.Instant?]>([])
    let (isHeld, release) = (Flag(), ChangeSignal())
    let batcher = PeopleBatcher(waitMax: .seconds(600)) { ids in
      deadlines.withLock { $0.append(Deadline.current) }
      if ids.count == PeopleQuery.idsMax { throw Failure.unavailable }
      if !isHeld.isRaised {
        isHeld.raise()
        await release.wait(after: 0)
      }
      return [:]
    }
    let held = Task { try await batcher.people(Self.ids(1)) }
    try await eventually("the first call") { isHeld.isRaised }
    // Both share a call, as it begins when it is full.
    let callers = (0..<2).map { _ in
      let ids = Self.ids(PeopleQuery.idsMax / 2)
      return Task { try await Deadline.$current.withValue(.now + .seconds(30)) { try await batcher.people(ids) } }
    }
    for caller in callers { await #expect(throws: Failure.self) { _ = try await caller.value } }
    release.send()
    _ = try await held.value
    let next = try await batcher.people(Self.ids(1))
    #expect(next.isEmpty)
    #expect(deadlines.withLock { $0 } == [nil, nil, nil])
  }

  @Test func callsOfManyAtOnceAllEnd() async throws {
    let batcher = PeopleBatcher { ids in
      await Task.yield()
      return Dictionary(uniqueKeysWithValues: ids.map { ($0, Person(id: $0, number: 1, name: nil)) })
    }
    let complete = try await atOnce(200) { _ in
      for _ in 0..<50 {
        let ids = Self.ids(3)
        guard Set(try await batcher.people(ids).keys) == ids else { return false }
      }
      return true
    }
    #expect(complete.allSatisfy { $0 })
  }
}
