import Foundation

/// The products of tests: those of the repository's example.
package enum BillingProducts {
  package static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "deploy/billing/products.yaml").path

  package static let settings = ["BILLING_PRODUCTS": path]

  package static let pack = "com.timepoint.flash.credits.50"
  package static let explorer = "com.timepoint.flash.sub.explorer"
  package static let packPrice = "price_credits_50"
  package static let explorerPrice = "price_explorer_monthly"
  package static let creatorPrice = "price_creator_monthly"
  package static let studioPrice = "price_studio_monthly"
}
