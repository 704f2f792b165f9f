import Database
import Foundation
import Support
import Testing
import Wire

@testable import Credits

extension Calls {
  func creditCalls() async throws {
    let (alice, new) = (try await signIn(1), try await stack.signIn("credits"))
    for user in [alice, new] {
      try await user.browser.ok(.GET, "/api/v1/credits/balance")
      try await user.browser.ok(.GET, "/api/v1/credits/history?limit=2&offset=2")
    }
    let id = alice.id.description
    let admin = stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
    try await admin.ok(.POST, "/api/v1/credits/admin/grant", ["user_id": id, "amount": 10])
    let billing = inside(stack.credits, as: "billing+credits")
    try await billing.ok(.GET, "/internal/credits/check?user_id=\(id)&cost=1")
    for _ in 0..<2 {
      for (key, cost) in [("plans-1", 1), ("plans-2", 1_000_000)] {
        _ = try await billing.post(
          "/internal/credits/spend", ["user_id": id, "cost": cost, "idempotency_key": key])
      }
      _ = try await billing.with(["Idempotency-Key": "plans-4"])
        .post("/internal/credits/spend", ["user_id": id, "cost": 1])
    }
    try await billing.ok(.POST, "/internal/credits/grant", ["user_id": id, "amount": 1])
    let auth = inside(stack.credits, as: "auth")
    try await auth.ok(.GET, "/internal/users/\(id)/data")
    try await holdCalls(of: id, billing)
    try await expiryCalls(of: alice.id)
    try await auditCalls(billing)
  }

  private func holdCalls(of id: String, _ billing: Browser) async throws {
    let path = "/internal/credits/holds"
    func open(_ key: String, _ cost: Int = 1) async throws -> String {
      try await billing.post(path, ["user_id": id, "cost": cost, "idempotency_key": key]).string("id")
    }
    let (captured, part, released) = (try await open("1"), try await open("2", 3), try await open("3"))
    #expect(try await open("1") == captured)
    #expect(try await open("4", 1_000_000).isEmpty)
    for _ in 0..<2 { try await billing.ok(.POST, "\(path)/\(captured)/capture") }
    try await billing.ok(.POST, "\(path)/\(part)/capture", ["amount": 1])
    try await billing.ok(.POST, "\(path)/\(released)/release")
    try await billing.refused(.POST, "\(path)/\(released)/capture")
  }

  /// What the worker does when the time of holds and lots is over, a refund into debt, and a hold that is given back
  /// then.
  private func expiryCalls(of user: UserID) async throws {
    try await withDatabase(of: "credits") { database in
      let now = stack.clock.now
      func post(_ amount: Int, expiringAfter seconds: Double? = nil) async throws {
        var operation = CreditOperation(id: .new(at: now), user: user, amount: amount, type: .refund, at: now)
        operation.expiresAt = seconds.map { now + $0 }
        operation.createsDebt = amount < 0
        let posted = operation
        try await database.write { db in _ = try LedgerStore.post(posted, isChecked: true, on: db) }
      }
      for seconds in [60.0, 600] { try await post(5, expiringAfter: seconds) }
      for cost in 1...2 {
        let hold = CreditHold(
          id: .new(at: now), user: user, cost: cost, type: .chat, caller: "plans", at: now, expiresAt: now + 100)
        _ = try await database.write { db in try HoldStore.open(hold, isChecked: true, on: db) }
      }
      try await post(-1000)
      let later = now + 300
      try await CreditExpiry(database: database, logger: quiet, now: { later }, interval: .seconds(60)).expire()
      try await post(2000)
      try await post(5, expiringAfter: 60)
      try await CreditExpiry(database: database, logger: quiet, now: { later }, interval: .seconds(60)).expire()
    }
  }

  private func auditCalls(_ billing: Browser) async throws {
    try await billing.ok(.GET, "/internal/credits/audit")
    try await withDatabase(of: "credits") { database in
      let (id, now) = (OperationID.new(at: stack.clock.now), stack.clock.now + 3600)
      try await database.write { db in
        try db.change("insert into ledger_operation (id, type, created_at) values (\(id), 'chat', \(now))")
      }
      let auditor = LedgerAuditor(
        database: database, status: AuditStatus(in: .init(), now: { now }), logger: quiet, now: { now },
        interval: .seconds(60))
      try await auditor.auditIfDue()
      // A finding that is no longer true.
      let resolved = AuditFinding(check: .lots, subject: try await signIn(1).id.description)
      try await database.write { db in try AuditProgressStore.add([resolved], at: now, on: db) }
      #expect(try await auditor.audit().findings.contains(resolved) == false)
    }
  }
}
