import Foundation
import Testing

@testable import KithClient

/// When calls are repeated, after how long, and with which key.
@Suite struct RetryTests {
  private static let balance = #"{"balance":50,"lifetime_earned":50,"lifetime_spent":0}"#

  @Test(arguments: [
    (["Retry-After": "7"] as [String: String], 7.5), (["RateLimit": "\"user\";r=0;t=12"], 12.5),
    (["X-RateLimit-Reset": "1800000020"], 20.5), (["Retry-After": "Fri, 15 Jan 2027 08:00:30 GMT"], 30.5), ([:], 2.0),
  ])
  func aLimitedCallWaitsAsLongAsTheServerSays(headers: [String: String], seconds: Double) async throws {
    let waits = Waits()
    let (client, _) = try await KithClient.scripted(waits: waits) { _, count in
      count == 1 ? .refusal(429, "rate_limited", headers: headers) : .json(Self.balance)
    }
    #expect(try await client.credits.balance().balance == 50)
    #expect(waits.seconds == [seconds])
  }

  @Test func aWaitThatIsTooLongIsTheAppsToDecide() async throws {
    let (client, transport) = try await KithClient.scripted { _, _ in
      .refusal(429, "rate_limited", headers: ["Retry-After": "600"])
    }
    let failure = await #expect(throws: KithFailure.self) { try await client.credits.balance() }
    guard case .refused(let refusal) = failure else {
      Issue.record("\(failure as Any)")
      return
    }
    #expect(refusal.retryAfterSeconds == 600 && refusal.code == .known(.rateLimited))
    #expect(transport.requests.count == 1)
  }

  @Test(arguments: [(0.5, [1, 2, 4, 8, 15, 15, 15]), (1, [2, 4, 8, 16, 30, 30, 30])] as [(Double, [Double])])
  func withoutAnAnswerTheWaitsGrowFromOneToThirtySeconds(jitter: Double, seconds: [Double]) async throws {
    let waits = Waits()
    let transport = ScriptedTransport { _, _ in throw NoAnswer("offline") }
    var retries = RetryPolicy()
    retries.attemptsMax = 8
    #expect((0..<1000).allSatisfy { _ in (0.5...1).contains(RetryPolicy().jitter()) })
    retries.jitter = { jitter }
    retries.sleep = { waits.add($0) }
    let client = KithClient(baseURL: .server, tokens: MemoryTokenStore(), retries: retries, transport: transport)
    await #expect(throws: KithFailure.unreachable("offline")) { try await client.credits.costs() }
    #expect(waits.seconds == seconds)
    #expect(transport.requests.count == 8)
  }

  @Test func aBrokenServerIsAskedOnceMore() async throws {
    let (client, transport) = try await KithClient.scripted { _, _ in .refusal(500, "internal_error") }
    let failure = await #expect(throws: KithFailure.self) { try await client.credits.balance() }
    #expect(failure?.code == .known(.internalError))
    #expect(transport.requests.count == 2)
  }

  @Test func anOverloadedServerIsAskedWhenItSays() async throws {
    let waits = Waits()
    let (client, _) = try await KithClient.scripted(waits: waits) { _, count in
      count == 1 ? .refusal(503, "too_busy", headers: ["Retry-After": "3"]) : .json(Self.balance)
    }
    _ = try await client.credits.balance()
    #expect(waits.seconds == [3.5])
  }

  @Test func aRepeatedPostHasTheSameKeyAndAnotherPostAnotherOne() async throws {
    let (client, transport) = try await KithClient.scripted { _, count in
      if count < 3 { throw NoAnswer("lost") }
      return .json(#"{"id":"g"}"#)
    }
    _ = try await client.groups.create(name: "Us")
    _ = try await client.groups.create(name: "Us")
    let keys = transport.requests.map { $0.headers["Idempotency-Key"] }
    #expect(keys.count == 4 && Set(keys.prefix(3)).count == 1 && Set(keys).count == 2)
    #expect(!keys.contains(nil))
    #expect(Set(transport.requests.prefix(3).map(\.body)).count == 1)
  }

  @Test func aCodeIsSentOnce() async throws {
    let (client, transport) = try await KithClient.scripted(isSignedIn: false) { _, _ in throw NoAnswer("lost") }
    await #expect(throws: KithFailure.unreachable("lost")) {
      try await client.auth.signIn(phoneNumber: "+15550001111", code: "123456")
    }
    #expect(transport.requests.count == 1)
  }

  @Test func whatALostRequestHasDeletedIsDeleted() async throws {
    let (client, _) = try await KithClient.scripted { _, count in
      if count == 1 { throw NoAnswer("lost") }
      return .refusal(404, "not_found")
    }
    try await client.collections.delete("col_1")
    // The premise: without a lost answer it is a refusal.
    let (other, _) = try await KithClient.scripted { _, _ in .refusal(404, "not_found") }
    await #expect(throws: KithFailure.self) { try await other.collections.delete("col_1") }
  }

  @Test func aCancelledCallEnds() async throws {
    let (client, _) = try await KithClient.scripted { _, _ in throw NoAnswer("offline") }
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try Task.checkCancellation()
      return try await client.credits.balance()
    }
    await #expect(throws: CancellationError.self) { try await call.value }
  }

  @Test func anAnswerIsKeptAsLongAsTheContractSaysAndUntilAChange() async throws {
    let (client, transport) = try await KithClient.scripted { request, _ in
      request.method == "GET"
        ? .json("[]")
        : .json(
          #"[{"id":"p","user_id":"u","title":"T","status":"draft","created_at":"2026-11-21T08:15:30Z","#
            + #""updated_at":"2026-11-21T08:15:30Z"}]"#)
    }
    _ = try await client.adventures.plans()
    _ = try await client.adventures.plans()
    #expect(transport.requests.count == 1)
    _ = try await client.adventures.createPlan(title: "T")
    _ = try await client.adventures.plans()
    #expect(transport.requests.count == 3)
  }

  @Test func anUnchangedAnswerIsNotSentAgain() async throws {
    let (client, transport) = try await KithClient.scripted { request, count in
      request.headers["If-None-Match"] == "\"1\""
        ? .json("", status: 304) : .json(#"{"tags":[{"id":1,"name":"a"}]}"#, headers: ["ETag": "\"1\""])
    }
    #expect(try await client.tasks.tags().map(\.name) == ["a"])
    #expect(try await client.tasks.tags().map(\.name) == ["a"])
    #expect(transport.requests.count == 2)
  }
}
