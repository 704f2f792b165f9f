import Clients
import Foundation
import HTTPTypes
import Hummingbird
import Support
import Synchronization
import Testing
import Web
import Wire

/// Calls between services that do not go well.
@Suite struct ClientTests {
  @Test func aServiceThatNeverAnswersIsGivenUpInTime() async throws {
    try await withSilence { port in
      let neighbours = Neighbours(Settings(["AUTH_URL": "http://127.0.0.1:\(port)"]))
      let users = UsersClient(in: Surroundings(Settings([:]), neighbours: neighbours, logger: quiet))
      let isInTime = await isDone(within: .seconds(4)) {
        await #expect(throws: Failure.unavailable) { _ = try await users.endedSessions(since: nil) }
      }
      #expect(isInTime)
    }
  }

  @Test func aServiceThatIsNotThereIsSaidSoAtOnce() async throws {
    let neighbours = Neighbours(Settings(["CREDITS_URL": "http://127.0.0.1:\(try freePort())/"]))
    let credits = CreditsClient(in: Surroundings(Settings([:]), neighbours: neighbours, logger: quiet))
    let isAtOnce = await isDone(within: .seconds(3)) {
      await #expect(throws: Failure.unavailable) { _ = try await credits.check(.new(at: Date()), cost: 1) }
    }
    #expect(isAtOnce)
  }

  @Test func aRemoteFailureArrivesAsItWasThrown() async throws {
    try await withStack(.sqlite) { stack in
      let credits = CreditsClient(in: stack.surroundings(of: "invites"))
      await #expect(throws: Failure.userNotFound) { _ = try await credits.check(.new(at: Date()), cost: 1) }
      let alice = try await stack.signIn("alice")
      await #expect { _ = try await credits.spend(.init(userID: alice.id, cost: 0)) } throws: { error in
        (error as? Failure)?.fields.map(\.field) == ["cost"]
      }
      // A key that the other side does not know is this process's trouble, not its caller's.
      let wrong = stack.surroundings.with(stack.surroundings.settings.overlaid(["SERVICE_KEY": "wrong"]))
      await #expect(throws: Failure.unavailable) { _ = try await CreditsClient(in: wrong).check(alice.id, cost: 1) }
    }
  }

  @Test func whatIsSafeToRepeatIsRepeatedAndNothingElse() async throws {
    try await withMoody(failures: 2) { moody in
      let credits = CreditsClient(in: moody.surroundings)
      let check = try await credits.check(.new(at: Date()), cost: 1)
      #expect(check.balance == 7)
      #expect(moody.calls == 3)
    }
    try await withMoody(failures: 2) { moody in
      let credits = CreditsClient(in: moody.surroundings)
      let spend = SpendCredits(userID: .new(at: Date()), cost: 1, idempotencyKey: "once")
      let moved = try await credits.spend(spend)
      #expect(moved.success)
      #expect(moody.calls == 3)
    }
    try await withMoody(failures: 1) { moody in
      let credits = CreditsClient(in: moody.surroundings)
      await #expect(throws: Failure.unavailable) {
        _ = try await credits.spend(SpendCredits(userID: .new(at: Date()), cost: 1))
      }
      #expect(moody.calls == 1)
    }
  }

  @Test func whoIsUnavailableSaysThroughOthersWhenToTryAgain() async throws {
    for (said, heard) in [("7", 7), (nil, 1), ("Fri, 31 Dec 1999 23:59:59 GMT", 1), ("-5", 1)] as [(String?, Int)] {
      try await withMoody(failures: .max, retryAfter: said) { moody in
        await #expect { _ = try await CreditsClient(in: moody.surroundings).check(.new(at: Date()), cost: 1) } throws: {
          ($0 as? Failure)?.kind == .unavailable && ($0 as? Failure)?.retryAfterSeconds == heard
        }
      }
    }
    try await withMoody(failures: .max, retryAfter: "7") { moody in
      try await withStack(.sqlite) { stack in
        let alice = try await stack.signIn("alice")
        stack.surroundings.neighbours.moved(.credits, to: moody.surroundings.neighbours.urls(of: .credits))
        let export = try await alice.browser.get("/api/v1/users/me/export")
        #expect(export.status == 503 && export.headers["retry-after"] == ["7"])
      }
    }
  }

  @Test func namesThatAreKnownAreShownWhileAuthIsAwayAndNothingIsDecidedByThem() async throws {
    try await withStack(.sqlite) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let users = UsersClient(in: stack.surroundings(of: "groups"))
      #expect(try await users.names(of: [alice.id]).values.map(\.name) == ["alice"])
      stack.surroundings.neighbours.moved(.auth, to: "http://127.0.0.1:\(try freePort())")
      for _ in 0..<2 { #expect(try await users.names(of: [alice.id]).values.map(\.name) == ["alice"]) }
      #expect(try await Set(users.names(of: [alice.id, bob.id]).keys) == [alice.id])
      await #expect(throws: Failure.unavailable) { _ = try await users.people([alice.id]) }
      await #expect(throws: Failure.unavailable) { try await users.requireProven(alice.id) }
      stack.surroundings.neighbours.moved(.auth, to: stack.auth.base)
      try await eventually("both") { try await users.names(of: [alice.id, bob.id]).count == 2 }
      // Who has gone is not shown any more, whatever was known of them.
      #expect(try await bob.browser.delete("/api/v1/auth/account").status == 200)
      #expect(try await Set(users.names(of: [alice.id, bob.id]).keys) == [alice.id])
      stack.surroundings.neighbours.moved(.auth, to: "http://127.0.0.1:\(try freePort())")
      #expect(try await Set(users.names(of: [alice.id, bob.id]).keys) == [alice.id])
    }
  }

  @Test func aRefusalIsNotTriedAgain() async throws {
    try await withMoody(failures: .max, status: .conflict) { moody in
      let credits = CreditsClient(in: moody.surroundings)
      await #expect(throws: Failure.self) { _ = try await credits.check(.new(at: Date()), cost: 1) }
      #expect(moody.calls == 1)
    }
  }

  @Test func retriesDoNotBecomeAStorm() async throws {
    try await withMoody(failures: .max) { moody in
      let credits = CreditsClient(in: moody.surroundings)
      for _ in 0..<10 {
        _ = try await atOnce(20) { _ in
          // `try?`: it fails, which is what this is about.
          _ = try? await credits.check(.new(at: Date()), cost: 1)
        }
      }
      // Ten at once, and one for every ten calls: without a budget it would be 600.
      #expect(moody.calls > 200)
      #expect(moody.calls <= 200 + 10 + 20)
    }
  }

  @Test func exportsOfManyShareOneBudget() async throws {
    try await withMoody(failures: .max) { moody in
      try await withStack(.sqlite) { stack in
        let alice = try await stack.signIn("alice")
        stack.surroundings.neighbours.moved(.credits, to: moody.surroundings.neighbours.urls(of: .credits))
        for _ in 0..<40 { #expect(try await alice.browser.get("/api/v1/users/me/export").status == 503) }
        // Each with a budget of its own would make it 120.
        #expect(moody.calls >= 40)
        #expect(moody.calls <= 40 + 10 + 4)
      }
    }
  }

  @Test func whoHasNoTimeLeftIsToldSoAndTheTimeIsPassedOn() async throws {
    try await withMoody(failures: 0) { moody in
      let credits = CreditsClient(in: moody.surroundings)
      try await Deadline.$current.withValue(.now + .milliseconds(1500)) {
        _ = try await credits.check(.new(at: Date()), cost: 1)
      }
      let told = try #require(moody.timeouts.last)
      #expect((1...1500).contains(told))
      let calls = moody.calls
      await #expect(throws: Failure.unavailable) {
        try await Deadline.$current.withValue(.now - .milliseconds(1)) {
          _ = try await credits.check(.new(at: Date()), cost: 1)
        }
      }
      #expect(moody.calls == calls, "nobody is asked for an answer that nobody waits for")
    }
  }

  @Test func howLongAnAppWaitsIsTheGatewaysToSay() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let hurried = alice.browser.with(["X-Timeout-Ms": "1"])
      // Through the gateway nobody can say it: it is the gateway's to say.
      #expect(try await hurried.get("/api/v1/auth/me").status == 200)
      #expect(try await stack.auth.with(["X-Timeout-Ms": "nonsense"]).get("/health").status == 200)
    }
  }
}

/// A service that fails some times before it answers, and counts.
private struct Moody: Sendable {
  let surroundings: Surroundings
  fileprivate let state: Box

  fileprivate final class Box: Sendable {
    let seen = Mutex<(calls: Int, timeouts: [Int])>((0, []))
  }

  var calls: Int { state.seen.withLock { $0.calls } }
  var timeouts: [Int] { state.seen.withLock { $0.timeouts } }
}

private func withMoody(
  failures: Int, status: HTTPResponse.Status = .serviceUnavailable, retryAfter: String? = nil,
  _ body: (Moody) async throws -> Void
) async throws {
  let box = Moody.Box()
  let listening = Listening()
  let router = Router()
  @Sendable func answer(_ request: Request) -> Response {
    let call = box.seen.withLock { seen in
      seen.calls += 1
      seen.timeouts.append(request.headers[HTTPField.Name("x-timeout-ms")!].flatMap { Int($0) } ?? 0)
      return seen.calls
    }
    guard call > failures else {
      return Response(status: status, headers: retryAfter.map { [.retryAfter: $0] } ?? [:])
    }
    let json = #"{"sufficient":true,"balance":7,"success":true,"transaction_id":null,"balance_after":7,"error":null}"#
    return Response(
      status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: .init(string: json)))
  }
  router.get("/internal/credits/check") { request, _ in answer(request) }
  router.get("/internal/users/{id}/data") { request, _ in answer(request) }
  router.post("/internal/credits/spend") { request, _ in answer(request) }
  let app = Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { listening.opened(on: $0.localAddress?.port ?? 0) }, logger: quiet)
  try await running([app]) {
    let neighbours = Neighbours(Settings(["CREDITS_URL": "http://127.0.0.1:\(try await listening.number)"]))
    try await body(Moody(surroundings: Surroundings(Settings([:]), neighbours: neighbours, logger: quiet), state: box))
  }
}
