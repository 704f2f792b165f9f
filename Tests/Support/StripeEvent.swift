import Crypto
import Foundation
import Wire

/// An event of Stripe's as its webhooks send it.
package struct StripeEvent: Sendable {
  package let id: String
  package let body: Data

  package init(
    _ type: String, _ object: JSONValue, id: String = "evt_\(UUID().uuidString.replacing("-", with: ""))",
    at seconds: Int,
    livemode: Bool = false
  ) throws {
    self.id = id
    body = try JSONValue.object([
      "id": .string(id), "object": "event", "type": .string(type), "created": .integer(seconds),
      "livemode": .bool(livemode), "pending_webhooks": 1, "data": ["object": object],
    ]).data
  }

  /// The header `Stripe-Signature`, computed here and not by the service's code.
  package static func signature(of body: Data, at time: Date, secret: String = StripeServer.webhookSecret) -> String {
    let seconds = Int(time.timeIntervalSince1970)
    let code = HMAC<SHA256>.authenticationCode(
      for: Data("\(seconds).".utf8) + body, using: SymmetricKey(data: Data(secret.utf8)))
    return "t=\(seconds),v1=" + code.map { String(format: "%02x", $0) }.joined()
  }

  /// Sends the event to the gateway, as Stripe does.
  package func send(_ stack: TestStack, secret: String = StripeServer.webhookSecret) async throws -> Browser.Reply {
    let signature = Self.signature(of: body, at: stack.clock.now, secret: secret)
    return try await stack.gateway.with(["Stripe-Signature": signature]).send(.POST, "/webhooks/stripe", body: body)
  }
}

extension TestStack {
  /// Waits until no billing event waits any more.
  package func billingInboxSettled() async throws {
    try await eventually("the billing inbox", within: .seconds(240)) {
      try await count("billing_event where status = 'waiting'", in: "credits") == 0
    }
  }
}
