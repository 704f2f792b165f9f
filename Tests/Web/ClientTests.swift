import Clients
import Foundation
import HTTPTypes
import Hummingbird
import Support
import Synchronization
import Testing
import Web
import Wire

/// Calls between services that fail.
@Suite struct ClientTests {
  @Test func aServiceThatNeverAnswersIsGivenUpInTime() async throws {
    try await withUnresponsivePort { port in
      let serviceAddresses = ServiceAddresses(Settings(["AUTH_URL": "http://127.0.0.1:\(port)"]))
      let users = UsersClient(in: Dependencies(Settings([:]), serviceAddresses: serviceAddresses, logger: quiet))
      // Two seconds are its timeout, and ten that of the connection.
      let isInTime = await isDone(within: .seconds(8)) {
        await #expect(throws: Failure.unavailable) { _ = try await users.endedSessions(since: nil) }
      }
      #expect(isInTime)
    }
  }

  @Test func aServiceThatIsNotThereIsSaidSoAtOnce() async throws {
    let serviceAddresses = ServiceAddresses(Settings(["CREDITS_URL": "http://127.0.0.1:\(try freePort())/"]))
    let credits = CreditsClient(in: Dependencies(Settings([:]), serviceAddresses: serviceAddresses, logger: quiet))
    let isAtOnce = await isDone(within: .seconds(3)) {
      await #expect(throws: Failure.unavailable) { _ = try await credits.check(.new(at: Date()), cost: 1) }
    }
    #expect(isAtOnce)
  }

  @Test func aRemoteFailureArrivesAsItWasThrown() async throws {
    try await withStack(.sqlite) { stack in
      let credits = CreditsClient(in: stack.dependencies(of: "invites"))
      await #expect(throws: Failure.userNotFound) { _ = try await credits.check(.new(at: Date()), cost: 1) }
      let alice = try await stack.signIn("alice")
      await #expect { _ = try await credits.spend(.init(userID: alice.id, cost: 0)) } throws: { error in
        (error as? Failure)?.fields.map(\.field) == ["cost"]
      }
      // A wrong service key is a configuration error of this process, not an error of its caller.
      let wrong = stack.dependencies.with(stack.dependencies.settings.overlaid(["SERVICE_KEY": "wrong"]))
      await #expect(throws: Failure.unavailable) { _ = try await CreditsClient(in: wrong).check(alice.id, cost: 1) }
    }
  }

  @Test func whatIsSafeToRepeatIsRepeatedAndNothingElse() async throws {
    try await withFlakyService(failures: 2) { flaky in
      let credits = CreditsClient(in: flaky.dependencies)
      let check = try await credits.check(.new(at: Date()), cost: 1)
      #expect(check.balance == 7)
      #expect(flaky.calls == 3)
    }
    try await withFlakyService(failures: 2) { flaky in
      let credits = CreditsClient(in: flaky.dependencies)
      let spend = SpendCredits(userID: .new(at: Date()), cost: 1, idempotencyKey: "once")
      let moved = try await credits.spend(spend)
      #expect(moved.success)
      #expect(flaky.calls == 3)
    }
    try await withFlakyService(failures: 1) { flaky in
      let credits = CreditsClient(in: flaky.dependencies)
      await #expect(throws: Failure.unavailable) {
        _ = try await credits.spend(SpendCredits(userID: .new(at: Date()), cost: 1))
      }
      #expect(flaky.calls == 1)
    }
  }

  /// Nothing was sent where a connection to a Unix socket is refused: the other address is tried, also for a call that
  /// is not safe to repeat.
  @Test func aSocketOnWhichNobodyListensIsPassedOver() async throws {
    try await withSocketFolder { folder in
      let left = "\(folder)/left.sock"
      try await leaveSocket(at: left)
      try await withFlakyService(failures: 0) { flaky in
        let other = flaky.dependencies.serviceAddresses.urls(of: .credits)
        for (number, path) in [left, "\(folder)/none.sock"].enumerated() {
          let dead = try #require(SocketURL.base("unix:\(path)"))
          flaky.dependencies.serviceAddresses.set(.credits, to: [dead] + other)
          let credits = CreditsClient(in: flaky.dependencies)
          for _ in 0..<8 { _ = try await credits.spend(SpendCredits(userID: .new(at: Date()), cost: 1)) }
          #expect(flaky.calls == 8 * (number + 1))
        }
      }
    }
  }

  @Test func whoIsUnavailableSaysThroughOthersWhenToTryAgain() async throws {
    for (header, seconds) in [("7", 7), (nil, 1), ("Fri, 31 Dec 1999 23:59:59 GMT", 1), ("-5", 1)]
      as [(String?, Int)]
    {
      try await withFlakyService(failures: .max, retryAfter: header) { flaky in
        await #expect { _ = try await CreditsClient(in: flaky.dependencies).check(.new(at: Date()), cost: 1) } throws: {
          ($0 as? Failure)?.kind == .unavailable && ($0 as? Failure)?.retryAfterSeconds == seconds
        }
      }
    }
    try await withFlakyService(failures: .max, retryAfter: "7") { flaky in
      try await withStack(.sqlite) { stack in
        let alice = try await stack.signIn("alice")
        stack.dependencies.serviceAddresses.set(.credits, to: flaky.dependencies.serviceAddresses.urls(of: .credits))
        let export = try await alice.browser.get("/api/v1/users/me/export")
        #expect(export.status == 503 && export.headers["retry-after"] == ["7"])
      }
    }
  }

  @Test func namesThatAreKnownAreShownWhileAuthIsAwayAndNothingIsDecidedByThem() async throws {
    try await withStack(.sqlite) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let users = UsersClient(in: stack.dependencies(of: "groups"))
      #expect(try await users.names(of: [alice.id]).values.map(\.name) == ["alice"])
      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:\(try freePort())")
      for _ in 0..<2 { #expect(try await users.names(of: [alice.id]).values.map(\.name) == ["alice"]) }
      #expect(try await Set(users.names(of: [alice.id, bob.id]).keys) == [alice.id])
      await #expect(throws: Failure.unavailable) { _ = try await users.people([alice.id]) }
      await #expect(throws: Failure.unavailable) { try await users.requireProven(alice.id) }
      stack.dependencies.serviceAddresses.set(.auth, to: stack.auth.base)
      try await eventually("both") { try await users.names(of: [alice.id, bob.id]).count == 2 }
      // A user who has deleted their account is removed from the cache.
      #expect(try await bob.browser.delete("/api/v1/auth/account").status == 200)
      try await eventually("the removal") {
        try await Set(users.names(of: [alice.id, bob.id]).keys) == [alice.id]
      }
      stack.dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:\(try freePort())")
      #expect(try await Set(users.names(of: [alice.id, bob.id]).keys) == [alice.id])
    }
  }

  @Test func aRefusalIsNotTriedAgain() async throws {
    try await withFlakyService(failures: .max, status: .conflict) { flaky in
      let credits = CreditsClient(in: flaky.dependencies)
      await #expect(throws: Failure.self) { _ = try await credits.check(.new(at: Date()), cost: 1) }
      #expect(flaky.calls == 1)
    }
  }

  @Test func retriesDoNotBecomeAStorm() async throws {
    try await withFlakyService(failures: .max) { flaky in
      let credits = CreditsClient(in: flaky.dependencies)
      for _ in 0..<10 {
        _ = try await atOnce(20) { _ in
          // `try?`: the premise is that it fails.
          _ = try? await credits.check(.new(at: Date()), cost: 1)
        }
      }
      // Ten at once, and one for every ten calls: without a budget it would be 600.
      #expect(flaky.calls > 200)
      #expect(flaky.calls <= 200 + 10 + 20)
    }
  }

  @Test func exportsOfManyShareOneBudget() async throws {
    try await withFlakyService(failures: .max) { flaky in
      try await withStack(.sqlite) { stack in
        let alice = try await stack.signIn("alice")
        stack.dependencies.serviceAddresses.set(.credits, to: flaky.dependencies.serviceAddresses.urls(of: .credits))
        for _ in 0..<40 { #expect(try await alice.browser.get("/api/v1/users/me/export").status == 503) }
        // Separate budgets would allow 120.
        #expect(flaky.calls >= 40)
        #expect(flaky.calls <= 40 + 10 + 4)
      }
    }
  }

  @Test func whoHasNoTimeLeftIsToldSoAndTheTimeIsPassedOn() async throws {
    try await withFlakyService(failures: 0) { flaky in
      let credits = CreditsClient(in: flaky.dependencies)
      // Less than the five seconds that a call has by itself.
      try await Deadline.$current.withValue(.now + .milliseconds(4500)) {
        _ = try await credits.check(.new(at: Date()), cost: 1)
      }
      let timeout = try #require(flaky.timeouts.last)
      #expect((1...4500).contains(timeout))
      let calls = flaky.calls
      await #expect(throws: Failure.unavailable) {
        try await Deadline.$current.withValue(.now - .milliseconds(1)) {
          _ = try await credits.check(.new(at: Date()), cost: 1)
        }
      }
      #expect(flaky.calls == calls, "no request is sent after the deadline")
    }
  }

  @Test func howLongAnAppWaitsIsTheGatewaysToSay() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      let hurried = alice.browser.with(["X-Timeout-Ms": "1"])
      // The gateway removes the header and sets its own.
      #expect(try await hurried.get("/api/v1/auth/me").status == 200)
      #expect(try await stack.auth.with(["X-Timeout-Ms": "nonsense"]).get("/health").status == 200)
    }
  }
}

/// A service that fails a number of times before it succeeds, and counts the calls.
private struct FlakyService: Sendable {
  let dependencies: Dependencies
  fileprivate let state: Box

  fileprivate final class Box: Sendable {
    let seen = Mutex<(calls: Int, timeouts: [Int])>((0, []))
  }

  var calls: Int { state.seen.withLock { $0.calls } }
  var timeouts: [Int] { state.seen.withLock { $0.timeouts } }
}

private func withFlakyService(
  failures: Int, status: HTTPResponse.Status = .serviceUnavailable, retryAfter: String? = nil,
  _ body: (FlakyService) async throws -> Void
) async throws {
  let box = FlakyService.Box()
  let listening = ListeningPort()
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
  let app = loopbackServer(router, listening)
  try await running([app]) {
    let serviceAddresses = ServiceAddresses(Settings(["CREDITS_URL": "http://127.0.0.1:\(try await listening.number)"]))
    let dependencies = Dependencies(Settings([:]), serviceAddresses: serviceAddresses, logger: quiet)
    try await body(FlakyService(dependencies: dependencies, state: box))
  }
}
