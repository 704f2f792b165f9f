import Foundation

/// The members of Stripe's objects that are read here, in the layouts of the API's versions before and since 2025-03-31:
/// events have the version of their webhook endpoint, which is not the one of our requests.

/// The members that all events have.
struct StripeEventHead: Decodable {
  let id: String
  let type: String
  let created: Int
  let livemode: Bool

  var createdAt: Date { Date(timeIntervalSince1970: Double(created)) }
}

/// An event with the object that it is about.
struct StripeEventContent<Object: Decodable>: Decodable {
  struct Content: Decodable {
    let object: Object
  }

  let data: Content
}

/// Another object: its id, or the expanded object.
struct StripeReference: Decodable {
  let id: String

  private struct Expanded: Decodable {
    let id: String
  }

  init(from decoder: any Decoder) throws {
    // `try?`: if it is not a string it must be an object.
    if let id = try? decoder.singleValueContainer().decode(String.self) {
      self.id = id
    } else {
      self.id = try Expanded(from: decoder).id
    }
  }
}

struct StripeList<Element: Decodable>: Decodable {
  let data: [Element]
  let has_more: Bool?
}

struct StripeCustomer: Decodable {
  let id: String
}

/// A page of Stripe's to which the user is sent.
struct StripePage: Decodable {
  let url: String
}

struct StripeSession: Decodable {
  let id: String
  let mode: String
  let payment_status: String
  let client_reference_id: String?
  let metadata: [String: String]?
  let customer: StripeReference?
  let subscription: StripeReference?
  let payment_intent: StripeReference?
  let amount_total: Int?
  let currency: String?

  /// `unpaid` is a payment method that takes days; its success is another event.
  var isPaid: Bool { payment_status == "paid" || payment_status == "no_payment_required" }
}

struct StripePrice: Decodable {
  let id: String
}

struct StripeSubscription: Decodable {
  struct Item: Decodable {
    let price: StripePrice
    let current_period_end: Int?
  }

  struct CancellationDetails: Decodable {
    let reason: String?
  }

  let id: String
  let status: String
  let customer: StripeReference?
  let metadata: [String: String]?
  let items: StripeList<Item>
  let cancel_at_period_end: Bool?
  let cancel_at: Int?
  let cancellation_details: CancellationDetails?
  /// Before 2025-03-31.
  let current_period_end: Int?
}

struct StripeInvoice: Decodable {
  struct Parent: Decodable {
    let subscription_details: SubscriptionDetails?
  }

  struct SubscriptionDetails: Decodable {
    let subscription: StripeReference?
    let metadata: [String: String]?
  }

  struct StatusTransitions: Decodable {
    let paid_at: Int?
  }

  let id: String
  let customer: StripeReference?
  let billing_reason: String?
  let amount_paid: Int
  let currency: String?
  let status_transitions: StatusTransitions?
  let lines: StripeList<StripeInvoiceLine>
  let parent: Parent?
  /// Before 2025-03-31.
  private let subscription: StripeReference?
  /// Before 2025-03-31: without the subscription's id.
  private let subscription_details: SubscriptionDetails?

  var subscriptionID: String? { parent?.subscription_details?.subscription?.id ?? subscription?.id }
  /// Those of the subscription when the invoice was made.
  var subscriptionMetadata: [String: String] {
    parent?.subscription_details?.metadata ?? subscription_details?.metadata ?? [:]
  }
}

struct StripeInvoiceLine: Decodable {
  struct Period: Decodable {
    let end: Int
  }

  struct Pricing: Decodable {
    struct Details: Decodable {
      let price: StripeReference?
    }

    let price_details: Details?
  }

  struct Parent: Decodable {
    struct ItemDetails: Decodable {
      let proration: Bool?
    }

    let subscription_item_details: ItemDetails?
  }

  let amount: Int
  let quantity: Int?
  let period: Period
  private let pricing: Pricing?
  private let parent: Parent?
  /// Before 2025-03-31.
  private let price: StripeReference?
  /// Before 2025-03-31.
  private let proration: Bool?

  var priceID: String? { pricing?.price_details?.price?.id ?? price?.id }
  var isProration: Bool { parent?.subscription_item_details?.proration ?? proration ?? false }
  var periodEnd: Date { Date(timeIntervalSince1970: Double(period.end)) }
}

/// The payment of an invoice by a payment intent.
struct StripeInvoicePayment: Decodable {
  let invoice: StripeReference
}

struct StripeCharge: Decodable {
  let id: String
  let amount: Int
  /// The sum of all refunds.
  let amount_refunded: Int
  let payment_intent: StripeReference?
  let metadata: [String: String]?
  /// Before 2025-03-31.
  let invoice: StripeReference?
}

struct StripeRefund: Decodable {
  let charge: StripeReference?
}

struct StripeDispute: Decodable {
  let id: String
  let amount: Int
  let status: String
  let charge: StripeReference

  /// What is withheld from us, or lost. An inquiry (`warning_…`) withholds nothing.
  var amountTaken: Int {
    switch status {
    case "needs_response", "under_review", "lost": amount
    default: 0
    }
  }

  var isClosed: Bool { ["won", "lost", "warning_closed", "prevented"].contains(status) }
}
