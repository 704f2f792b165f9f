import Crypto
import CryptoExtras
import Foundation
import Synchronization
import Testing
import Tokens

/// A key server whose keys and availability a test can change.
private final class FakeServer: Sendable {
  struct Down: Error {}
  private let state = Mutex((ids: ["a"], isDown: false, fetches: 0))
  private let key = P256.Signing.PrivateKey().publicKey

  var fetches: Int { state.withLock { $0.fetches } }
  func publish(_ ids: String...) { state.withLock { $0.ids = ids } }
  func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

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

/// A clock that stands still until it is advanced.
private final class ManualClock: Sendable {
  private let time = Mutex(ContinuousClock.now)
  var now: ContinuousClock.Instant { time.withLock { $0 } }
  func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

@Suite struct RemoteJWKSTests {
  @Test func oneFetchServesEveryoneWhoAsksAtOnce() async throws {
    let server = FakeServer()
    let keys = RemoteJWKS { try await server.fetch() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<50 { group.addTask { _ = try await keys.key("a") } }
      try await group.waitForAll()
    }
    #expect(server.fetches == 1)
  }

  @Test func anUnknownIDAsksAgainButNotBeforeThePauseIsOver() async throws {
    let (server, clock) = (FakeServer(), ManualClock())
    let keys = RemoteJWKS(now: { clock.now }) { try await server.fetch() }
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
    let (server, clock) = (FakeServer(), ManualClock())
    let keys = RemoteJWKS(now: { clock.now }) { try await server.fetch() }
    _ = try await keys.key("a")
    server.setDown(true)
    clock.advance(by: .seconds(4000))
    _ = try await keys.key("a")
    #expect(server.fetches == 2)
    await #expect(throws: TokenRejected.unknownKey) { _ = try await keys.key("b") }
  }

  @Test func nobodyWaitsForAServerThatStaysAway() async throws {
    let (server, clock) = (FakeServer(), ManualClock())
    let keys = RemoteJWKS(refetchInterval: .seconds(1), lifetime: .seconds(60), now: { clock.now }) {
      try await server.fetch()
    }
    _ = try await keys.key("a")
    server.setDown(true)
    clock.advance(by: .seconds(61))
    #expect(keys.cachedKey("a") == nil, "the premise: it would be looked up again")
    _ = try await keys.key("a")
    // For some seconds it is cached again without another fetch.
    clock.advance(by: .seconds(10))
    #expect(keys.cachedKey("a") != nil)
    clock.advance(by: .seconds(600))
    _ = try await keys.key("a")
    #expect(keys.cachedKey("a") != nil)
    // A removed key is rejected as soon as the server answers.
    server.setDown(false)
    server.publish("b")
    clock.advance(by: .seconds(61))
    await #expect(throws: TokenRejected.unknownKey) { _ = try await keys.key("a") }
  }

  @Test func withoutAFirstSetThereIsNoVerdict() async throws {
    let (server, clock) = (FakeServer(), ManualClock())
    server.setDown(true)
    let keys = RemoteJWKS(now: { clock.now }) { try await server.fetch() }
    await #expect(throws: FakeServer.Down.self) { _ = try await keys.key("a") }
    await #expect(throws: KeysUnavailable.self) { _ = try await keys.key("a") }
    server.setDown(false)
    clock.advance(by: .seconds(1))
    _ = try await keys.key("a")
  }

  @Test func aWithdrawnKeyGoes() async throws {
    let (server, clock) = (FakeServer(), ManualClock())
    let keys = RemoteJWKS(now: { clock.now }) { try await server.fetch() }
    _ = try await keys.key("a")
    server.publish("b")
    clock.advance(by: .seconds(3601))
    await #expect(throws: TokenRejected.unknownKey) { _ = try await keys.key("a") }
    _ = try await keys.key("b")
  }

  @Test func aKeyThatIsGoneIsToldAndANewOneIsNot() async throws {
    let (server, clock) = (FakeServer(), ManualClock())
    let keys = RemoteJWKS(now: { clock.now }) { try await server.fetch() }
    _ = try await keys.key("a")
    let first = keys.removals
    server.publish("a", "b")
    clock.advance(by: .seconds(60))
    _ = try await keys.key("b")
    #expect(keys.removals == first)
    server.publish("b")
    clock.advance(by: .seconds(3601))
    _ = try await keys.key("b")
    #expect(keys.removals != first && keys.cachedKey("a") == nil)
  }

  @Test func whoeverWatchesSeesAWithdrawalWithoutBeingAsked() async throws {
    let server = FakeServer()
    let keys = RemoteJWKS(lifetime: .seconds(3600), waitsForUnknownKeys: true) { try await server.fetch() }
    let refreshing = Task { await keys.refresh(every: .milliseconds(5)) }
    defer { refreshing.cancel() }
    _ = try await keys.key("a")
    #expect(keys.cachedKey("a") != nil)
    server.setDown(true)
    server.publish("b")
    let before = server.fetches
    try await until { server.fetches > before + 2 }
    #expect(keys.cachedKey("a") != nil, "a server that does not answer removes no key")
    server.setDown(false)
    try await until { keys.cachedKey("a") == nil }
    #expect(keys.cachedKey("b") != nil && keys.removals == 1)
  }

  /// Polls a condition for at most a minute.
  private func until(_ condition: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while !condition(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
    #expect(condition())
  }

  @Test func thePatientWaitForTheNextFetchInsteadOfBeingRefused() async throws {
    let server = FakeServer()
    let keys = RemoteJWKS(refetchInterval: .milliseconds(400), waitsForUnknownKeys: true) { try await server.fetch() }
    _ = try await keys.key("a")
    #expect(keys.cachedKey("a") != nil && keys.cachedKey("b") == nil)
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
    let own = RemoteJWKS(waitsForUnknownKeys: true) { try await server.fetch() }
    await #expect(throws: TokenRejected.unknownKey) { _ = try await own.key("a") }
    let external = RemoteJWKS { try await server.fetch() }
    await #expect(throws: KeysUnavailable.self) { _ = try await external.key("a") }
  }
}
