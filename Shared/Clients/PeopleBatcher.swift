import Synchronization
import Web
import Wire

/// Fetches the people of callers of the same time in one call: those who come while a call is under way share the next
/// one, which begins when that one has ended.
///
/// A caller gets what was read after it has asked, as without sharing.
final class PeopleBatcher: Sendable {
  /// A call for several callers.
  private final class Batch: Sendable {
    let begins = ChangeSignal()
    let ends = ChangeSignal()
    let result = Mutex<Result<[UserID: Person], any Error>?>(nil)
  }

  private struct State {
    var callCount = 0
    /// The next call, and for whom it asks.
    var next: (batch: Batch, ids: Set<UserID>)?
  }

  private let state = Mutex(State())
  private let waitMax: Duration
  private let fetch: @Sendable (Set<UserID>) async throws -> [UserID: Person]

  /// - Parameter waitMax: how long callers wait for the end of a call, so that one that hangs does not delay others.
  init(
    waitMax: Duration = .milliseconds(5), fetch: @escaping @Sendable (Set<UserID>) async throws -> [UserID: Person]
  ) {
    self.waitMax = waitMax
    self.fetch = fetch
  }

  /// The people with these ids.
  ///
  /// - Throws: what `fetch` throws; `CancellationError` when the task is cancelled, after which others are still served.
  func people(_ ids: Set<UserID>) async throws -> [UserID: Person] {
    guard let batch = join(ids) else {
      defer { endCall() }
      return try await fetch(ids)
    }
    await batch.ends.wait(after: 0)
    guard let result = batch.result.withLock({ $0 }) else { throw CancellationError() }
    let people = try result.get()
    return ids.reduce(into: [:]) { $0[$1] = people[$1] }
  }

  /// The call that the ids are fetched with; nil when no other is under way, and the caller makes one.
  private func join(_ ids: Set<UserID>) -> Batch? {
    let (batch, isNew, isFull): (Batch?, Bool, Bool) = state.withLock { state in
      guard state.callCount > 0 || state.next != nil else {
        state.callCount = 1
        return (nil, false, false)
      }
      let isNew = state.next == nil
      var (batch, all) = state.next ?? (Batch(), [])
      all.formUnion(ids)
      state.next = (batch, all)
      return (batch, isNew, all.count >= PeopleQuery.idsMax)
    }
    // With the trace of the first of them.
    if let batch, isNew { Task { await run(batch) } }
    if isFull { batch?.begins.send() }
    return batch
  }

  private func run(_ batch: Batch) async {
    await batch.begins.wait(after: 0, atMost: waitMax)
    let ids = state.withLock { state in
      state.callCount += 1
      defer { state.next = nil }
      return state.next?.ids ?? []
    }
    let result: Result<[UserID: Person], any Error>
    do {
      // The deadlines of the callers differ.
      result = .success(try await Deadline.$current.withValue(nil) { try await fetch(ids) })
    } catch { result = .failure(error) }
    batch.result.withLock { $0 = result }
    batch.ends.send()
    endCall()
  }

  private func endCall() {
    state.withLock { state in
      state.callCount -= 1
      return state.next?.batch
    }?.begins.send()
  }
}
