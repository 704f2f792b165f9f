import Logging
import Outbox
import Web

/// What the environment says of billing, checked at the start.
struct BillingSettings: Sendable {
  let products: Products
  let redirects: CheckoutRedirects
  /// nil when Stripe is not configured.
  let stripe: StripeClient?
  let apple: AppStoreConfiguration
  /// How long after one reading of the App Store's history the next one begins.
  let appleReconciliationSeconds: Double
  /// The operator's billing system; nil without one.
  let remote: BillingAPI?
  private let isLedgerBilling: Bool

  /// - Throws: ``StartFailure`` that names the variable, and the line of the file of products.
  init(_ dependencies: Dependencies) throws {
    let settings = dependencies.settings
    products = try settings.products()
    redirects = try CheckoutRedirects(settings.list("CHECKOUT_REDIRECTS"))
    stripe = try settings.stripeAccount().map { StripeClient($0, logger: dependencies.logger) }
    apple = try settings.appStore()
    appleReconciliationSeconds = 3600 * Double(try settings.int("APPLE_RECONCILE_HOURS", default: 6, in: 1...24))
    remote = try settings.billingAPI()
    switch settings.string("BILLING", default: "noop") {
    case "noop": isLedgerBilling = false
    case "ledger": isLedgerBilling = true
    default: throw StartFailure("BILLING must be noop or ledger; a billing system of your own is set by BILLING_URL")
    }
  }

  /// How the messages of the outbox are sent.
  var deliveries: [Delivery] {
    (remote.map { [CreditsGranted.delivery($0)] } ?? []) + (stripe.map { [StripeCustomerDeletion.delivery($0)] } ?? [])
  }

  /// The billing provider without a billing system of the operator's.
  func provider(_ accounts: CreditAccounts) -> any BillingProvider {
    isLedgerBilling ? LedgerBilling(accounts: accounts) : NoOpBilling()
  }
}
