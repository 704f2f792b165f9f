import Foundation
import Support
import Wire

/// The layout of Stripe's objects, which depends on the version of the webhook endpoint.
enum StripeLayout: CaseIterable, Sendable {
  case before2025, since2025
}

/// Makes objects as Stripe's events have them.
struct StripeObjects: Sendable {
  let layout: StripeLayout
  let user: UserID
  let customer: String

  var metadata: JSONValue { ["user_id": .string(user.description)] }

  /// A completed session for a pack.
  func session(
    _ id: String, product: String, intent: String, paymentStatus: String = "paid", amount: Int = 799
  ) -> JSONValue {
    [
      "id": .string(id), "object": "checkout.session", "mode": "payment", "payment_status": .string(paymentStatus),
      "status": "complete", "client_reference_id": .string(user.description), "customer": .string(customer),
      "metadata": metadata.with(["product_id": .string(product)]), "payment_intent": .string(intent),
      "subscription": nil, "amount_total": .integer(amount), "currency": "usd",
      "customer_details": ["email": "alice@example.com"],
    ]
  }

  func subscription(
    _ id: String, price: String, status: String, periodEnd: Int, cancelsAtPeriodEnd: Bool = false,
    reason: String? = nil
  ) -> JSONValue {
    let item: JSONValue = ["id": "si_1", "price": ["id": .string(price), "object": "price"], "quantity": 1]
    let end: [String: JSONValue] = ["current_period_end": .integer(periodEnd)]
    let items: JSONValue = [
      "object": "list", "data": [layout == .since2025 ? item.with(end) : item], "has_more": false,
    ]
    let subscription: JSONValue = [
      "id": .string(id), "object": "subscription", "status": .string(status), "customer": .string(customer),
      "metadata": metadata, "items": items, "cancel_at_period_end": .bool(cancelsAtPeriodEnd), "cancel_at": nil,
      "cancellation_details": ["reason": reason.map(JSONValue.string) ?? .null],
    ]
    return layout == .before2025 ? subscription.with(end) : subscription
  }

  func line(_ price: String, amount: Int, periodEnd: Int, isProration: Bool = false, quantity: Int = 1) -> JSONValue {
    let line: JSONValue = [
      "id": "il_1", "object": "line_item", "amount": .integer(amount), "quantity": .integer(quantity),
      "period": ["start": 1, "end": .integer(periodEnd)],
    ]
    switch layout {
    case .before2025:
      return line.with(["price": ["id": .string(price)], "proration": .bool(isProration), "subscription": "sub_x"])
    case .since2025:
      return line.with([
        "pricing": ["type": "price_details", "price_details": ["price": .string(price), "product": "prod_1"]],
        "parent": [
          "type": "subscription_item_details", "subscription_item_details": ["proration": .bool(isProration)],
        ],
      ])
    }
  }

  func invoice(
    _ id: String, subscription: String, lines: [JSONValue], reason: String, amount: Int, paidAt: Int,
    hasMore: Bool = false
  ) -> JSONValue {
    let invoice: JSONValue = [
      "id": .string(id), "object": "invoice", "customer": .string(customer), "billing_reason": .string(reason),
      "amount_paid": .integer(amount), "currency": "usd", "status": "paid",
      "status_transitions": ["paid_at": .integer(paidAt)],
      "lines": ["object": "list", "data": .array(lines), "has_more": .bool(hasMore)],
    ]
    switch layout {
    case .before2025:
      return invoice.with([
        "subscription": .string(subscription), "subscription_details": ["metadata": metadata], "paid": true,
      ])
    case .since2025:
      return invoice.with([
        "parent": [
          "type": "subscription_details",
          "subscription_details": ["subscription": .string(subscription), "metadata": metadata],
        ]
      ])
    }
  }

  /// The charge of an invoice.
  ///
  /// - Parameter invoice: is a member of the charge in the old layout only.
  func charge(
    _ id: String, intent: String, invoice: String? = nil, product: String? = nil, amount: Int, refunded: Int = 0
  ) -> JSONValue {
    let charge: JSONValue = [
      "id": .string(id), "object": "charge", "amount": .integer(amount), "amount_refunded": .integer(refunded),
      "refunded": .bool(refunded == amount), "payment_intent": .string(intent), "currency": "usd",
      "metadata": product.map { metadata.with(["product_id": .string($0)]) } ?? [:],
    ]
    guard layout == .before2025 else { return charge }
    return charge.with(["invoice": invoice.map(JSONValue.string) ?? .null])
  }

  func invoicePayment(_ id: String, invoice: String, intent: String) -> JSONValue {
    [
      "id": .string(id), "object": "invoice_payment", "invoice": .string(invoice), "status": "paid",
      "payment": ["type": "payment_intent", "payment_intent": .string(intent)],
    ]
  }

  func dispute(_ id: String, charge: String, intent: String, amount: Int, status: String) -> JSONValue {
    [
      "id": .string(id), "object": "dispute", "charge": .string(charge), "payment_intent": .string(intent),
      "amount": .integer(amount), "status": .string(status), "reason": "fraudulent",
    ]
  }
}
