import Foundation
import Hummingbird
import Web
import Wire

/// Holds for other services, whose work takes long: reserve, then capture or release.
struct HoldRoutes: Sendable {
  let costs: OperationCosts
  let posting: IdempotentPosting
  let now: @Sendable () -> Date

  /// - Parameter services: the routes for callers who may spend.
  func add(to services: RouterGroup<ServiceCaller>) {
    services.post("/internal/credits/holds", use: open)
    services.post("/internal/credits/holds/{id}/capture", use: capture)
    services.post("/internal/credits/holds/{id}/release", use: release)
  }

  @Sendable private func open(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.service.name, context)
    let body = try await request.json(OpenHoldBody.self)
    let hold = try hold(body, of: context.service.name, keyIsInHeader: call != nil)
    return try await posting.open(call, hold) { opened in
      var reply = try Reply.json(OpenedHoldBody(opened), status: .created)
      reply.isRepeated = opened.isRepeated
      return reply
    }
  }

  private func hold(_ body: OpenHoldBody, of caller: String, keyIsInHeader: Bool) throws(Failure) -> CreditHold {
    let (cost, type) = try price(of: body)
    let seconds = body.expires_in ?? CreditHold.secondsDefault
    guard (1...CreditHold.secondsMax).contains(seconds) else {
      throw .invalid(.init("expires_in", "must be from 1 to \(CreditHold.secondsMax) seconds"))
    }
    let key = try keyIsInHeader ? nil : BodyKey.optional(body.idempotency_key)
    guard keyIsInHeader || key != nil else { throw .invalid(.init("idempotency_key", "is required")) }
    let now = now()
    return CreditHold(
      id: .new(at: now), user: body.user_id, cost: cost, type: type,
      description: try LedgerText.optional(body.description, field: "description"),
      referenceID: try LedgerText.optional(body.reference_id, field: "reference_id"),
      referenceType: try LedgerText.optional(body.reference_type, field: "reference_type"),
      caller: caller, idempotencyKey: key, at: now, expiresAt: now + TimeInterval(seconds))
  }

  private func price(of body: OpenHoldBody) throws(Failure) -> (cost: Int, type: OperationType) {
    switch (body.operation, body.cost) {
    case (let operation?, nil):
      let type = body.transaction_type.map(OperationType.spent) ?? .priced(operation)
      return (try costs.cost(of: operation), type)
    case (nil, let cost?):
      return (try CreditAmount.required(cost, field: "cost"), .spent(body.transaction_type))
    case (nil, nil): throw .invalid(.init("cost", "is required without an operation"))
    case (_?, _?): throw .invalid(.init("cost", "must be left out with an operation"))
    }
  }

  @Sendable private func capture(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.service.name, context)
    let body = try await request.jsonIfPresent(CaptureBody.self)
    let amount = try body?.amount.map { try CreditAmount.required($0, field: "amount") }
    return try await settle(call, try context.hold(), as: .capture(amount))
  }

  @Sendable private func release(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.service.name, context)
    return try await settle(call, try context.hold(), as: .release)
  }

  private func settle(_ call: IdempotentCall?, _ id: HoldID, as settlement: HoldSettlement) async throws -> Response {
    let now = now()
    return try await posting.idempotency.once(call) { db in
      let settled = try HoldStore.settle(id, as: settlement, at: now, on: db)
      var reply = try Reply.json(SettledHoldBody(settled))
      reply.isRepeated = settled.isRepeated
      return reply
    }.response
  }
}

extension CreditHold {
  static let secondsDefault = 600
  /// A day.
  static let secondsMax = 86_400
}

extension ServiceCaller {
  fileprivate func hold() throws(Failure) -> HoldID {
    guard let hold = parameters.get("id").flatMap({ HoldID($0) }) else { throw .holdNotFound }
    return hold
  }
}

private struct OpenHoldBody: Decodable {
  let user_id: UserID
  let operation: String?
  let cost: Int?
  let transaction_type: String?
  let description: String?
  let reference_id: String?
  let reference_type: String?
  let idempotency_key: String?
  let expires_in: Int?
}

private struct CaptureBody: Decodable {
  let amount: Int?
}

private struct OpenedHoldBody: Encodable {
  let id: HoldID
  let cost: Int
  let expires_at: Date
  let balance: Int
  let held: Int

  init(_ hold: OpenedHold) {
    id = hold.id
    cost = hold.cost
    expires_at = hold.expiresAt
    balance = hold.balance
    held = hold.held
  }
}

private struct SettledHoldBody: Encodable {
  let id: HoldID
  let status: String
  let balance: Int

  init(_ hold: SettledHold) {
    id = hold.id
    status = hold.state.rawValue
    balance = hold.balance
  }
}
