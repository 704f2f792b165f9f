import Foundation
import Hummingbird
import ServiceLifecycle
import Web

/// The parts of Apple purchases, from the configuration.
struct AppleBilling: Sendable {
  /// nil when Apple purchases are not configured.
  let processor: AppleEventProcessor?
  private let missing: [String]
  private let purchases: ApplePurchases
  private let client: AppStoreServerClient?
  private let reconciliationSeconds: Double
  private let dependencies: Dependencies

  init(_ settings: BillingSettings, purchases store: PurchaseStore, in dependencies: Dependencies) {
    self.dependencies = dependencies
    reconciliationSeconds = settings.appleReconciliationSeconds
    let purchases = ApplePurchases(products: settings.products, store: store, now: dependencies.now)
    self.purchases = purchases
    switch settings.apple {
    case .missing(let names):
      (processor, missing, client) = (nil, names, nil)
      dependencies.logger.notice(
        "Apple purchases are not configured", metadata: ["missing": "\(names.joined(separator: ", "))"])
    case .complete(let appStore):
      let client = appStore.server.map { AppStoreServerClient(key: $0, now: dependencies.now) }
      (missing, self.client) = ([], client)
      processor = AppleEventProcessor(
        verifier: appStore.verifier, purchases: purchases,
        consumption: AppleConsumption(
          store: store, client: client, hasSignupCredits: store.accounts.store.signupCredits > 0,
          logger: dependencies.logger, now: dependencies.now))
    }
  }

  func background(_ inbox: BillingInbox) -> [any Service] {
    guard let processor else { return [] }
    let sweep = AppleReportSweep(purchases, in: dependencies)
    guard let client else { return [sweep] }
    return [
      sweep,
      AppleReconciliation(
        client: client, verifier: processor.verifier, purchases: purchases, inbox: inbox,
        intervalSeconds: reconciliationSeconds, in: dependencies),
    ]
  }

  func add(to router: HTTPRoutes, _ inbox: BillingInbox) {
    ApplePurchaseRoutes(
      verifier: processor?.verifier, missing: missing, purchases: purchases, inbox: inbox, now: dependencies.now
    ).add(to: router)
  }
}
