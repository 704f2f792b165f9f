import StrictHTTP
import Web

/// Credits and billing.
extension Route {
  static let credits: [Route] = Array([ledger, billing].joined())

  private static let ledger: [Route] = [
    .init(.GET, "/api/v1/credits/balance", to: .credits, bearer: .required),
    .init(.GET, "/api/v1/credits/history", to: .credits, bearer: .required),
    .init(.GET, "/api/v1/credits/costs", to: .credits),
    .init(.POST, "/api/v1/credits/admin/grant", to: .credits),
  ]

  private static let billing: [Route] = [
    .init(.GET, "/api/v1/billing/products", to: .credits),
    .init(.GET, "/api/v1/billing/status", to: .credits, bearer: .required),
    .init(.GET, "/api/v1/billing/purchases", to: .credits, bearer: .required),
    // The service calls Stripe before it responds.
    .init(.POST, "/api/v1/billing/stripe/checkout", to: .credits, bearer: .required, responseSeconds: 30),
    .init(.GET, "/api/v1/billing/stripe/portal", to: .credits, bearer: .required, responseSeconds: 30),
    .init(.POST, "/api/v1/billing/apple/verify", to: .credits, bearer: .required),
    .init(.PUT, "/api/v1/billing/apple/consent", to: .credits, bearer: .required),
    .init(.POST, "/webhooks/stripe", to: .credits, limit: .webhook, bodyBytesMax: webhookBytesMax),
    .init(.POST, "/webhooks/apple", to: .credits, limit: .webhook, bodyBytesMax: webhookBytesMax),
  ]
}
