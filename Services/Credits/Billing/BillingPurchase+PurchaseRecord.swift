import ClientBodies

extension BillingPurchase {
  init(_ purchase: PurchaseRecord) {
    self.init(
      id: purchase.id.description, source: purchase.provider.rawValue, transactionID: purchase.transactionID,
      productID: purchase.productID, quantity: purchase.quantity, credits: purchase.credits,
      creditsTakenBack: purchase.creditsTakenBack, amount: purchase.amount, currency: purchase.currency,
      status: purchase.status.rawValue, purchasedAt: purchase.purchasedAt, expiresAt: purchase.expiresAt)
  }
}
