import Foundation
import Support
import Testing

@testable import Credits

extension Calls {
  /// Purchases in the App Store: owned and not, refunded, asked about, and looked up after a while.
  func appStoreCalls() async throws {
    let (alice, now) = (try await signIn(2), stack.clock.now)
    let pack = AppStore.transaction("plans-1", product: BillingProducts.pack, for: nil, from: now)
    let plan = AppStore.transaction(
      "plans-2", product: BillingProducts.explorer, for: alice.id, from: now, to: now + 86_400 * 30)
    try await alice.browser.ok(.PUT, "/api/v1/billing/apple/consent", ["consented": true])
    try await notify("ONE_TIME_CHARGE", pack, at: now)
    for transaction in [pack, plan] {
      try await alice.browser.ok(
        .POST, "/api/v1/billing/apple/verify", ["signed_transaction": try appStore.sign(transaction)])
    }
    for (second, type) in ["DID_RENEW", "CONSUMPTION_REQUEST", "REFUND"].enumerated() {
      try await notify(type, type == "DID_RENEW" ? plan : pack, at: now + Double(second))
    }
    try await eventually("an answer") { !appStoreServer.calls(to: "/inApps/v2/transactions/consumption").isEmpty }
    try await eventually("a reading") { !appStoreServer.calls(to: "/inApps/v1/notifications/history").isEmpty }
    let strange = AppStore.transaction("plans-3", product: "strange", for: alice.id, from: now)
    _ = try await alice.browser.post(
      "/api/v1/billing/apple/verify", ["signed_transaction": try appStore.sign(strange)])
    try await withDatabase(of: "credits") { database in
      try await database.write { db in
        _ = try AppleOwnerStore.takeReports(of: "plans-4", before: now, on: db)
        try AppleOwnerStore.deleteUnowned("plans-4", on: db)
      }
    }
  }

  private func notify(_ type: String, _ transaction: AppStore.Payload, at time: Date) async throws {
    let payload = try appStore.notification(type, about: transaction, at: time)
    try await stack.gateway.ok(.POST, "/webhooks/apple", ["signedPayload": payload])
    try await stack.billingInboxSettled()
  }
}
