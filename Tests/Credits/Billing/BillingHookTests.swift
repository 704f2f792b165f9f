import Database
import Foundation
import Hummingbird
import Support
import Synchronization
import Testing
import Web
import Wire

/// A billing system of the operator's own, which is asked before spends and notified of grants.
@Suite struct BillingHookTests {
  private static let key = "a key for the billing system 0123456789"

  private func settings(_ url: String) -> [String: String] {
    ["BILLING_URL": url, "BILLING_SERVICE_KEY": Self.key]
  }

  private func spend(_ stack: TestStack, _ user: SignedInUser, _ cost: Int, key: String) async throws
    -> Browser.Reply
  {
    try await stack.credits.with(stack.with(key: "invites")).post(
      "/internal/credits/spend", ["user_id": user.id.description, "cost": cost, "idempotency_key": key])
  }

  @Test(arguments: engines) func itIsAskedBeforeASpendAndToldOfEachGrant(engine: Engine) async throws {
    try await withBillingSystem(key: Self.key) { system in
      try await withStack(engine, settings(system.url)) { stack in
        let alice = try await stack.signIn("alice")
        #expect(try await spend(stack, alice, 5, key: "one").bool("success") == true)
        let check = try #require(system.checks.last)
        #expect(check["user_id"]?.text == alice.id.description && check["cost"] == 5)
        system.allows = false
        let refused = try await spend(stack, alice, 5, key: "two")
        #expect(refused.status == 200)
        #expect(refused.bool("success") == false)
        #expect(refused.int("balance_after") == 45)
        #expect(refused.string("error") == "Insufficient credits. This operation costs 5 credits.")
        // What was spent before is answered as before.
        let repeated = try await spend(stack, alice, 5, key: "one")
        #expect(repeated.bool("success") == true && repeated.int("balance_after") == 45)
        // The ledger refuses whatever the billing system says.
        system.allows = true
        #expect(try await spend(stack, alice, 46, key: "three").bool("success") == false)
        // The first reports are lost.
        system.failures = 2
        let admin = stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
        let grant: [String: any Sendable] = ["user_id": alice.id.description, "amount": 7]
        #expect(try await admin.post("/api/v1/credits/admin/grant", grant).status == 200)
        try await eventually("the reports") {
          stack.clock.advance(by: .seconds(1))
          return Set(system.grants.map { $0["source"]?.text }) == ["signup_bonus", "admin_grant"]
        }
        let report = try #require(system.grants.first { $0["source"]?.text == "admin_grant" })
        #expect(report["amount"] == 7 && report["user_id"]?.text == alice.id.description)
      }
    }
  }

  @Test func whileItDoesNotAnswerNothingIsSpent() async throws {
    try await withStack(.sqlite, settings("http://127.0.0.1:1")) { stack in
      let alice = try await stack.signIn("alice")
      for key in ["one", "two"] {
        let reply = try await spend(stack, alice, 5, key: key)
        #expect(reply.status == 503)
        #expect(reply.string("code") == "billing_unavailable")
      }
      #expect(try await alice.browser.get("/api/v1/credits/balance").int("balance") == 50)
    }
  }

  @Test(arguments: ["noop", "ledger"]) func withoutOneTheLedgerDecides(billing: String) async throws {
    try await withStack(.sqlite, ["BILLING": billing]) { stack in
      let alice = try await stack.signIn("alice")
      #expect(try await spend(stack, alice, 50, key: "all").bool("success") == true)
      #expect(try await spend(stack, alice, 1, key: "more").bool("success") == false)
      #expect(try await spend(stack, alice, 50, key: "all").bool("success") == true)
    }
  }
}

/// A billing system on loopback.
private final class BillingSystem: Sendable {
  private struct State {
    var allows = true
    var failures = 0
    var checks: [JSONValue] = []
    var grants: [JSONValue] = []
  }

  private let state = Mutex(State())
  private let listening = ListeningPort()
  private let address = Mutex("")
  private let key: String

  init(key: String) { self.key = key }

  var url: String { address.withLock { $0 } }
  var checks: [JSONValue] { state.withLock { $0.checks } }
  var grants: [JSONValue] { state.withLock { $0.grants } }
  var allows: Bool {
    get { state.withLock { $0.allows } }
    set { state.withLock { $0.allows = newValue } }
  }
  /// How many reports it refuses.
  var failures: Int {
    get { state.withLock { $0.failures } }
    set { state.withLock { $0.failures = newValue } }
  }

  private func body(_ request: Request) async throws -> JSONValue? {
    guard request.headers[.serviceKey] == key else { return nil }
    return try JSON.decode(JSONValue.self, from: Data(buffer: try await request.body.collect(upTo: 64 * 1024)))
  }

  func server() -> some ApplicationProtocol {
    let router = Router()
    router.post("/check_credits") { [self] request, _ -> Response in
      guard let body = try await body(request) else { return Response(status: .forbidden) }
      let allows = state.withLock { state in
        state.checks.append(body)
        return state.allows
      }
      return .json(["allowed": allows])
    }
    router.post("/on_credits_granted") { [self] request, _ -> Response in
      guard let body = try await body(request) else { return Response(status: .forbidden) }
      return state.withLock { state in
        guard state.failures == 0 else {
          state.failures -= 1
          return Response(status: .serviceUnavailable)
        }
        state.grants.append(body)
        return Response(status: .noContent)
      }
    }
    return loopbackServer(router, listening)
  }

  func ready() async throws {
    let port = try await listening.number
    address.withLock { $0 = "http://127.0.0.1:\(port)" }
  }
}

private func withBillingSystem(key: String, _ body: (BillingSystem) async throws -> Void) async throws {
  let system = BillingSystem(key: key)
  try await running([system.server()]) {
    try await system.ready()
    try await body(system)
  }
}
