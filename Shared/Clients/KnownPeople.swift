import Synchronization
import Web
import Wire

/// People as auth last described them, for answers that only show names: such an answer is better without some of them
/// than not given at all.
final class KnownPeople: Sendable {
  private struct State {
    /// Two generations, of which the older one goes: nobody is kept for long who is not shown any more.
    var young: [UserID: Person] = [:]
    var old: [UserID: Person] = [:]
    var bornAt = ContinuousClock.now
  }

  private let state = Mutex(State())
  private let silence = Silence()
  private static let generationMax = 10_000
  private static let generationLasts = Duration.seconds(1800)

  /// What `ask` says. While auth does not answer, what it said before of those whom it was asked about.
  func people(
    _ ids: Set<UserID>, asking ask: @escaping @Sendable () async throws -> [UserID: Person]
  ) async throws -> [UserID: Person] {
    try await silence.answer(orElse: known(ids)) { [self] in
      let people = try await ask()
      learn(ids, people)
      return people
    }
  }

  private func known(_ ids: Set<UserID>) -> [UserID: Person] {
    state.withLock { state in ids.reduce(into: [:]) { $0[$1] = state.young[$1] ?? state.old[$1] } }
  }

  private func learn(_ ids: Set<UserID>, _ people: [UserID: Person]) {
    state.withLock { state in
      if state.young.count >= Self.generationMax || ContinuousClock.now - state.bornAt > Self.generationLasts {
        (state.old, state.young, state.bornAt) = (state.young, [:], .now)
      }
      for id in ids {
        state.old[id] = nil
        // nil: who has gone is not shown any more, whatever was known of them.
        state.young[id] = people[id]
      }
    }
  }
}
