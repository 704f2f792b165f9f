import Foundation
import Support

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
  }
}
