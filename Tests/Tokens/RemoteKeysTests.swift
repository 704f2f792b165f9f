import Crypto
import CryptoExtras
import Foundation
import Synchronization
import Testing
import Tokens

/// A key server that can be told what to say.
private final class FakeServer: Sendable {
  struct Down: Error {}
  private let state = Mutex((ids: ["a"], isDown: false, fetches: 0))
  private let key = P256.Signing.PrivateKey().publicKey

  var fetches: Int { state.withLock { $0.fetches } }
  func publish(_ ids: String...) { state.withLock { $0.ids = ids } }
  func goDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

  func fetch() async throws -> JWKS {
    let (ids, isDown) = state.withLock { state in
      state.fetches += 1
      return (state.ids, state.isDown)
    }
    try await Task.sleep(for: .milliseconds(20))
    if isDown { throw Down() }
    return JWKS(
      keys: ids.map { id in
        var jwk = JWK(key)
        jwk.kid = id
        return jwk
      })
  }
}

/// A clock that stands still until it is moved.
private final class StandingClock: Sendable {
  private let time = Mutex(ContinuousClock.now)
  var now: ContinuousClock.Instant { time.withLock { $0 } }
  func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

@Suite struct RemoteKeysTests {
  @Test func oneFetchServesEveryoneWhoAsksAtOnce() async throws {
    let server = FakeServer()
    let keys = RemoteKeys { try await server.fetch() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 { group.addTask { _ = try await keys.key("a") } }
      try await group.waitForAll()
    }
    #expect(server.fetches == 1)
  }

  @Test func anUnknownIDAsksAgainButNotBeforeThePauseIsOver() async throws {
    let (server, clock) = (FakeServer(), StandingClock())
    let keys = RemoteKeys(now: { clock.now }) { try await server.fetch() }
    _ = try await keys.key("a")
    clock.advance(by: .seconds(59))
    for _ in 0..<20 { await #expect(throws: TokenRejected.unknownKey) { _ = try await keys.key("b") } }
    #expect(server.fetches == 1)
    server.publish("a", "b")
    clock.advance(by: .seconds(1))
    _ = try await keys.key("b")
    #expect(server.fetches == 2)
  }

  @Test func theLastGoodSetServesWhileTheServerIsDown() async throws {
    let (server, clock) = (FakeServer(), StandingClock())
    let keys = RemoteKeys(now: { clock.now }) { try await server.fetch() }
    _ = try await keys.key("a")
    server.goDown(true)
    clock.advance(by: .seconds(4000))
    _ = try await keys.key("a")
    #expect(server.fetches == 2)
    await #expect(throws: TokenRejected.unknownKey) { _ = try await keys.key("b") }
  }

  @Test func nobodyWaitsForAServerThatStaysAway() async throws {
    let (server, clock) = (FakeServer(), StandingClock())
    let keys = RemoteKeys(pause: .seconds(1), lifetime: .seconds(60), now: { clock.now }) { try await server.fetch() }
    _ = try await keys.key("a")
    server.goDown(true)
    clock.advance(by: .seconds(61))
    #expect(keys.keyAtHand("a") == nil, "the premise: it would be looked up again")
    _ = try await keys.key("a")
    // For some seconds it is at hand without another look.
    clock.advance(by: .seconds(10))
    #expect(keys.keyAtHand("a") != nil)
    clock.advance(by: .seconds(600))
    _ = try await keys.key("a")
    #expect(keys.keyAtHand("a") != nil)
    // A set that the server has taken back goes as soon as it answers.
    server.goDown(false)
    server.publish("b")
    clock.advance(by: .seconds(61))
    await #expect(throws: TokenRejected.unknownKey) { _ = try await keys.key("a") }
  }

  @Test func withoutAFirstSetThereIsNoVerdict() async throws {
    let (server, clock) = (FakeServer(), StandingClock())
    server.goDown(true)
    let keys = RemoteKeys(now: { clock.now }) { try await server.fetch() }
    await #expect(throws: FakeServer.Down.self) { _ = try await keys.key("a") }
    await #expect(throws: KeysUnavailable.self) { _ = try await keys.key("a") }
    server.goDown(false)
    clock.advance(by: .seconds(1))
    _ = try await keys.key("a")
  }

  @Test func aWithdrawnKeyGoes() async throws {
    let (server, clock) = (FakeServer(), StandingClock())
    let keys = RemoteKeys(now: { clock.now }) { try await server.fetch() }
    _ = try await keys.key("a")
    server.publish("b")
    clock.advance(by: .seconds(3601))
    await #expect(throws: TokenRejected.unknownKey) { _ = try await keys.key("a") }
    _ = try await keys.key("b")
  }

  @Test func aKeyThatIsGoneIsToldAndANewOneIsNot() async throws {
    let (server, clock) = (FakeServer(), StandingClock())
    let keys = RemoteKeys(now: { clock.now }) { try await server.fetch() }
    _ = try await keys.key("a")
    let first = keys.withdrawals
    server.publish("a", "b")
    clock.advance(by: .seconds(60))
    _ = try await keys.key("b")
    #expect(keys.withdrawals == first)
    server.publish("b")
    clock.advance(by: .seconds(3601))
    _ = try await keys.key("b")
    #expect(keys.withdrawals != first && keys.keyAtHand("a") == nil)
  }

  @Test func whoeverWatchesSeesAWithdrawalWithoutBeingAsked() async throws {
    let server = FakeServer()
    let keys = RemoteKeys(lifetime: .seconds(3600), isPatient: true) { try await server.fetch() }
    let watch = Task { await keys.watch(every: .milliseconds(5)) }
    defer { watch.cancel() }
    _ = try await keys.key("a")
    #expect(keys.keyAtHand("a") != nil)
    server.goDown(true)
    server.publish("b")
    let before = server.fetches
    try await until { server.fetches > before + 2 }
    #expect(keys.keyAtHand("a") != nil, "a server that is away withdraws nothing")
    server.goDown(false)
    try await until { keys.keyAtHand("a") == nil }
    #expect(keys.keyAtHand("b") != nil && keys.withdrawals == 1)
  }

  /// Waits, for a minute at most.
  private func until(_ isSo: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while !isSo(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
    #expect(isSo())
  }

  @Test func thePatientWaitForTheNextFetchInsteadOfBeingRefused() async throws {
    let server = FakeServer()
    let keys = RemoteKeys(pause: .milliseconds(400), isPatient: true) { try await server.fetch() }
    _ = try await keys.key("a")
    #expect(keys.keyAtHand("a") != nil && keys.keyAtHand("b") == nil)
    server.publish("a", "b")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 { group.addTask { _ = try await keys.key("b") } }
      try await group.waitForAll()
    }
    #expect(server.fetches == 2)
    await #expect(throws: TokenRejected.unknownKey) { _ = try await keys.key("c") }
  }

  @Test func aServerOfOurOwnMayHaveNoKeysAtAll() async throws {
    let server = FakeServer()
    server.publish()
    let own = RemoteKeys(isPatient: true) { try await server.fetch() }
    await #expect(throws: TokenRejected.unknownKey) { _ = try await own.key("a") }
    let strangers = RemoteKeys { try await server.fetch() }
    await #expect(throws: KeysUnavailable.self) { _ = try await strangers.key("a") }
  }
}
