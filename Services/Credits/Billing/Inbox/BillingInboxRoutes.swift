import Foundation
import Hummingbird
import Web
import Wire

/// The parked events, for operators: with a service key that has the scope `credits`, or with the admin key.
struct BillingInboxRoutes: Sendable {
  let inbox: BillingInbox
  let adminKey: String

  func add(to routes: HTTPRoutes) {
    routes.get("/internal/billing/inbox", use: parked)
    routes.post("/internal/billing/inbox/{id}/retry", use: retry)
  }

  @Sendable private func parked(_ request: Request, _ context: Context) async throws -> Response {
    try requireOperator(request, context)
    let limit = try request.queryNumber("limit", default: 50, in: 1...200)
    let last = try request.uri.queryParameters["after"].map { text in
      guard let id = BillingEventID(String(text)) else { throw Failure.invalid(.init("after", "must be a UUID")) }
      return id
    }
    let events = try await inbox.store.parked(limit: limit, after: last)
    return .json(ParkedBody(events: events.map(ParkedEventBody.init)))
  }

  @Sendable private func retry(_ request: Request, _ context: Context) async throws -> Response {
    try requireOperator(request, context)
    guard let id = context.parameters.get("id").flatMap({ BillingEventID($0) }),
      let status = try await inbox.retry(id)
    else { throw Failure.billingEventNotFound }
    guard status == .parked || status == .waiting else { throw Failure.billingEventSettled }
    return .json(RetriedBody(id: id, status: .waiting))
  }

  private func requireOperator(_ request: Request, _ context: Context) throws {
    if let service = context.service, service.isAdmitted(as: [], scope: "credits") { return }
    guard request.headers[.adminKey] != nil else { throw Failure.wrongServiceKey }
    try requireAdmin(request, adminKey)
  }
}

private struct ParkedBody: Encodable {
  let events: [ParkedEventBody]
}

private struct ParkedEventBody: Encodable {
  let id: BillingEventID
  let provider: PurchaseProvider
  let event_id: String
  let type: String
  let reason: String
  let received_at: Date
  let parked_at: Date

  init(_ event: ParkedEventRecord) {
    id = event.id
    provider = event.provider
    event_id = event.eventID
    type = event.kind
    reason = event.reason
    received_at = event.receivedAt
    parked_at = event.parkedAt
  }
}

private struct RetriedBody: Encodable {
  let id: BillingEventID
  let status: BillingEventStore.Status
}

extension Failure {
  static let billingEventNotFound = Failure(.notFound, "billing_event_not_found", "There is no such billing event.")
  static let billingEventSettled = Failure(
    .conflict, "billing_event_settled", "This billing event is not parked: it has been worked on.")
}
