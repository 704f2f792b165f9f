import Foundation
import Web
import Wire

/// Our account at Stripe: the key of its API and the secrets that sign its events.
struct StripeAccount: Sendable {
  /// The version of the API that requests ask for. Events have the version of their webhook endpoint.
  static let apiVersion = "2026-03-25.dahlia"

  /// Without a trailing slash.
  let url: String
  let authorization: String
  /// Two while one is being replaced.
  let webhookSecrets: [String]
  /// Whether payments are real. What Stripe sends in the other mode is never worth anything here.
  let isLive: Bool

  /// The mode as purchases are stored with it.
  var environment: String { isLive ? "live" : "test" }

  /// - Throws: ``StartFailure`` that names the variable.
  init(url: String, secretKey: String, webhookSecrets: [String], isProduction: Bool) throws {
    guard WebAddress.isSafe(url) else { throw StartFailure("STRIPE_BASE_URL must be an https address") }
    guard let mode = Self.mode(of: secretKey) else {
      throw StartFailure("STRIPE_SECRET_KEY must begin with sk_live_, rk_live_, sk_test_ or rk_test_")
    }
    guard (mode == "live") == isProduction else {
      throw StartFailure(
        isProduction
          ? "STRIPE_SECRET_KEY is a key of the test mode, which production does not accept"
          : "STRIPE_SECRET_KEY is a key of the live mode, which needs ENVIRONMENT=production")
    }
    guard webhookSecrets.allSatisfy({ $0.hasPrefix("whsec_") }) else {
      throw StartFailure("STRIPE_WEBHOOK_SECRET must begin with whsec_; two are separated by a comma")
    }
    self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    self.authorization = "Bearer \(secretKey)"
    self.webhookSecrets = webhookSecrets
    self.isLive = isProduction
  }

  private static func mode(of key: String) -> String? {
    let parts = key.split(separator: "_", maxSplits: 2).map(String.init)
    let isVisible = key.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    guard parts.count == 3, isVisible, ["sk", "rk"].contains(parts[0]), ["live", "test"].contains(parts[1]) else {
      return nil
    }
    return parts[1]
  }
}

extension Settings {
  /// nil when none of Stripe's variables is set.
  ///
  /// - Throws: ``StartFailure`` that names a variable that is missing or wrong.
  func stripeAccount() throws -> StripeAccount? {
    let secrets = list("STRIPE_WEBHOOK_SECRET")
    switch (nonempty("STRIPE_SECRET_KEY"), secrets.isEmpty) {
    case (nil, true): return nil
    // Without the events, what users pay would never be granted.
    case (_?, true): throw StartFailure("Stripe is half configured: STRIPE_WEBHOOK_SECRET is not set")
    case (nil, false): throw StartFailure("Stripe is half configured: STRIPE_SECRET_KEY is not set")
    case (let key?, false):
      return try StripeAccount(
        url: string("STRIPE_BASE_URL", default: "https://api.stripe.com"), secretKey: key, webhookSecrets: secrets,
        isProduction: stage() == .production)
    }
  }
}

extension Failure {
  static let stripeNotConfigured = Failure(
    .unavailable, "stripe_not_configured",
    "Purchases through Stripe are not configured on this server: STRIPE_SECRET_KEY is not set.",
    retryAfterSeconds: 3600)
}
