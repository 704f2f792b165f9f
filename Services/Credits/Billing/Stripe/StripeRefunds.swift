import Foundation
import Wire

/// Takes credits back for refunds and disputes, and gives them back when a dispute is won or a refund fails.
struct StripeRefunds: Sendable {
  let client: StripeClient?
  let purchases: PurchaseStore
  let now: @Sendable () -> Date

  /// The sum of the refunds of a charge: a later event has a higher one, unless a refund has failed.
  func apply(_ charge: StripeCharge, at createdAt: Date) async throws -> UserID? {
    let payment = try await payment(of: charge)
    return try await record(
      PurchaseRefund(
        .stripe, transactionID: payment.transactionID, id: charge.id, amount: charge.amount_refunded,
        of: payment.total, stateAt: createdAt))
  }

  /// A refund that the bank has not accepted is taken out of the charge's sum.
  func applyFailed(_ refund: StripeRefund, at createdAt: Date) async throws -> UserID? {
    guard let charge = refund.charge else { throw IgnoredEvent("a refund without a charge") }
    return try await apply(try await fetchCharge(charge.id), at: createdAt)
  }

  func apply(_ dispute: StripeDispute, at createdAt: Date) async throws -> UserID? {
    let charge = try await fetchCharge(dispute.charge.id)
    let payment = try await payment(of: charge)
    return try await record(
      PurchaseRefund(
        .stripe, transactionID: payment.transactionID, id: dispute.id, amount: dispute.amountTaken, of: payment.total,
        isFinal: dispute.isClosed, stateAt: createdAt))
  }

  private func record(_ refund: PurchaseRefund?) async throws -> UserID? {
    guard let refund else { throw IgnoredEvent("a charge of nothing") }
    try await purchases.record(refund, at: now())
    return try await purchases.purchase(.stripe, refund.transactionID)?.user
  }

  /// The purchase that a charge has paid: a pack's is known by the payment intent, a subscription's by the invoice.
  private func payment(of charge: StripeCharge) async throws -> (transactionID: String, total: Int) {
    guard let intent = charge.payment_intent?.id else {
      throw ParkedEvent("a charge without a payment intent: it was not made here")
    }
    if charge.metadata?[StripeUsers.productKey] != nil { return (intent, charge.amount) }
    if try await purchases.purchase(.stripe, intent) != nil { return (intent, charge.amount) }
    if let invoice = try await invoice(of: charge, intent) { return (invoice.id, invoice.amount_paid) }
    throw ParkedEvent("a charge of no purchase that was made here")
  }

  /// An invoice may have been paid by several charges: a refund is a share of what was paid in all.
  private func invoice(of charge: StripeCharge, _ intent: String) async throws -> StripeInvoice? {
    guard let client else { throw ParkedEvent("STRIPE_SECRET_KEY is not set") }
    let query = [("payment[type]", "payment_intent"), ("payment[payment_intent]", intent)]
    var id = charge.invoice?.id
    if id == nil {
      id = try await client.get("/v1/invoice_payments", query, as: StripeList<StripeInvoicePayment>.self)
        .data.first?.invoice.id
    }
    guard let id else { return nil }
    return try await client.get(try StripeClient.path("invoices", id))
  }

  private func fetchCharge(_ id: String) async throws -> StripeCharge {
    guard let client else { throw ParkedEvent("STRIPE_SECRET_KEY is not set") }
    do { return try await client.get(try StripeClient.path("charges", id)) } catch let error as StripeError
      where error.isMissing()
    {
      throw ParkedEvent("Stripe has no such charge")
    }
  }
}
