import Support
import Testing
import Web

@testable import Credits

/// What a process refuses to start with.
@Suite struct StripeSettingsTests {
  private static let good = ["STRIPE_SECRET_KEY": "sk_test_abc", "STRIPE_WEBHOOK_SECRET": "whsec_a,whsec_b"]

  private func failure(_ changes: [String: String]) -> String {
    do {
      _ = try Settings(Self.good.merging(changes) { $1 }).stripeAccount()
      return ""
    } catch {
      return (error as? StartFailure)?.description ?? "\(error)"
    }
  }

  @Test func theKeyFitsTheEnvironment() throws {
    let account = try #require(try Settings(Self.good).stripeAccount())
    #expect(!account.isLive && account.webhookSecrets == ["whsec_a", "whsec_b"])
    #expect(account.url == "https://api.stripe.com")
    let live = ["STRIPE_SECRET_KEY": "rk_live_abc", "ENVIRONMENT": "production"]
    #expect(try Settings(Self.good.merging(live) { $1 }).stripeAccount()?.isLive == true)
    #expect(try Settings([:]).stripeAccount() == nil)
    #expect(failure(["ENVIRONMENT": "production"]).contains("test mode"))
    #expect(failure(["STRIPE_SECRET_KEY": "sk_live_abc"]).contains("ENVIRONMENT=production"))
    #expect(failure(["STRIPE_SECRET_KEY": "sk_live_abc", "ENVIRONMENT": "staging"]).contains("ENVIRONMENT=production"))
  }

  @Test func halfOrWrongSettingsAreNamed() {
    #expect(failure(["STRIPE_WEBHOOK_SECRET": ""]).contains("STRIPE_WEBHOOK_SECRET is not set"))
    #expect(failure(["STRIPE_SECRET_KEY": ""]).contains("STRIPE_SECRET_KEY is not set"))
    #expect(failure(["STRIPE_SECRET_KEY": "pk_test_abc"]).contains("STRIPE_SECRET_KEY must begin"))
    #expect(failure(["STRIPE_SECRET_KEY": "sk_test_a b"]).contains("STRIPE_SECRET_KEY must begin"))
    #expect(failure(["STRIPE_WEBHOOK_SECRET": "secret"]).contains("whsec_"))
    #expect(failure(["STRIPE_BASE_URL": "http://stripe.example.com"]).contains("STRIPE_BASE_URL"))
  }

  @Test(arguments: ["http://app.example.com", "javascript://x", "no url", "https://a@b.example.com"])
  func redirectsAreWebPagesOrApps(entry: String) {
    #expect(throws: StartFailure.self) { try CheckoutRedirects([entry]) }
  }
}
