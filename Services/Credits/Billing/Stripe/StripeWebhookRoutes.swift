import Foundation
import HTTPTypes
import Hummingbird
import NIOFoundationCompat
import Web
import Wire

/// The endpoint for Stripe's events. It only stores them: Stripe sends an event again until the response is a 200.
struct StripeWebhookRoutes: Sendable {
  /// nil when Stripe is not configured.
  let account: StripeAccount?
  let inbox: BillingInbox
  let now: @Sendable () -> Date

  static let bodyBytesMax = 256 * 1024

  func add(to routes: HTTPRoutes) {
    routes.post("/webhooks/stripe", use: receive)
  }

  @Sendable private func receive(_ request: Request, _ context: Context) async throws -> Response {
    guard let account else { throw Failure.stripeNotConfigured }
    guard request.headers[.contentType]?.lowercased().hasPrefix("application/json") ?? true else {
      throw Failure.unsupportedType
    }
    var request = request
    let body = Data(buffer: try await request.bufferBody(upTo: Self.bodyBytesMax))
    let signature = request.headers[.stripeSignature] ?? ""
    guard StripeSignature(secrets: account.webhookSecrets).isValid(signature, of: body, at: now()),
      // `try?`: what Stripe signs and is no event of its format is refused like what it has not signed.
      let event = try? JSON.decode(StripeEventHead.self, from: body), (1...255).contains(event.id.utf8.count),
      event.type.utf8.count <= 255
    else {
      inbox.countRejected(.stripe)
      throw Failure.invalidStripeEvent
    }
    try await inbox.store(.stripe, eventID: event.id, kind: event.type, body, at: now())
    return .json(["received": true])
  }
}

extension HTTPField.Name {
  // `!`: the name is a constant that is a valid token.
  static let stripeSignature = Self("Stripe-Signature")!
}

extension Failure {
  static let invalidStripeEvent = Failure(
    .malformed, "invalid_signature", "This is not an event that Stripe has signed for this server just now.")
}
