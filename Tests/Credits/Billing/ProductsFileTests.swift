import Foundation
import Support
import Testing
import Web

@testable import Credits

/// The file of products is read at the start, and each mistake is named with its line.
@Suite struct ProductsFileTests {
  private func mistake(_ text: String) -> String {
    do {
      _ = try ProductsFile(path: "products.yaml").products(in: text)
      return ""
    } catch {
      return (error as? StartFailure)?.description ?? "\(error)"
    }
  }

  @Test func theExampleHasFourPacksAndThreeSubscriptions() throws {
    let products = try Settings(BillingProducts.settings).products()
    #expect(products.packs.map(\.credits) == [10, 50, 150, 500])
    #expect(products.subscriptions.map(\.credits) == [100, 300, 1000])
    #expect(products.subscriptions.map { $0.plan?.tier } == ["explorer", "creator", "studio"])
    #expect(products.subscriptions.map { $0.plan?.level } == [1, 2, 3])
    #expect(products[BillingProducts.pack]?.stripePrice == BillingProducts.packPrice)
    #expect(products.product(stripePrice: BillingProducts.studioPrice)?.plan?.tier == "studio")
    #expect(products["unknown"] == nil && products.product(stripePrice: "price_unknown") == nil)
    #expect(products.packs.allSatisfy { $0.creditsExpire(afterPaymentAt: Date()) == nil })
  }

  @Test func creditsOfAProductMayExpire() throws {
    let text = "packs:\n- {id: a, credits: 1, price: 1, currency: USD, expires_after_days: 2}"
    let pack = try #require(try ProductsFile(path: "p").products(in: text).packs.first)
    #expect(pack.creditsExpire(afterPaymentAt: Date(timeIntervalSince1970: 0)) == Date(timeIntervalSince1970: 172_800))
    #expect(pack.currency == "usd")
  }

  @Test func aMistakeIsNamedWithItsLine() {
    let good = """
      packs:
        - id: small
          credits: 10
          price: 199
          currency: usd
          stripe_price: price_1

      """
    #expect(mistake(good) == "")
    let cases = [
      (good.replacing("credits: 10", with: "credits: ten"), "products.yaml:3: credits must be a whole number"),
      (good.replacing("credits: 10", with: "credits: 0"), "products.yaml:3: credits must be a whole number from 1"),
      (good.replacing("credits: 10", with: "credits: 99999999999999999999"), "products.yaml:3: credits"),
      (good.replacing("price: 199", with: "price: -1"), "products.yaml:4: price must be"),
      (good.replacing("currency: usd", with: "currency: dollars"), "products.yaml:5: currency"),
      (good.replacing("    currency: usd\n", with: ""), "products.yaml:2: currency is missing"),
      (good.replacing("currency:", with: "curency:"), "products.yaml:5: a pack has no curency"),
      (good + "  - {id: small, credits: 1, price: 1, currency: eur}", "products.yaml:7: id small stands there twice"),
      (
        good + "  - {id: other, credits: 1, price: 1, currency: eur, stripe_price: price_1}",
        "products.yaml:7: stripe_price price_1 stands there twice"
      ),
      (
        good + "subscriptions:\n  - {id: s, credits: 1, price: 1, currency: eur, tier: t, level: 1, period: day}",
        "products.yaml:8: period must be one of week, month"
      ),
      (
        good + "subscriptions:\n  - {id: s, credits: 1, price: 1, currency: eur, level: 1, period: week}",
        "products.yaml:8: tier is missing"
      ),
      ("packs: many", "products.yaml:1: packs must be a list"), ("- a", "products.yaml:1: the document"),
      ("", "products.yaml:1: is empty"), ("packs: [", "products.yaml is not YAML"),
      ("packs: []\npacks: []", "products.yaml"),
    ]
    for (text, expected) in cases {
      #expect(mistake(text).hasPrefix("BILLING_PRODUCTS: \(expected)"), "\(mistake(text))")
    }
    #expect(throws: StartFailure.self) { try Settings(["BILLING_PRODUCTS": "/no/such/file"]).products() }
  }
}
