import Foundation
import Hummingbird
import Web
import Wire

/// The ledger for other services, and for outside systems whose key has the scope `credits`.
struct InternalCreditRoutes: Sendable {
  let accounts: Accounts
  let postings: Postings
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let inside = routes.group(context: ServiceCaller.self)
      .add(middleware: Admits(["auth", "invites", "groups", "lists"], scope: "credits"))
    inside.get("/internal/credits/check", use: check)
    inside.post("/internal/credits/spend", use: spend)
    inside.post("/internal/credits/grant", use: grant)
  }

  @Sendable private func check(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    guard let user = request.uri.queryParameters["user_id"].flatMap({ UserID(String($0)) }) else {
      throw Failure.invalid(.init("user_id", "must be a UUID"))
    }
    let cost = try request.queryNumber("cost", default: 0, in: 0...Operation.amountMax)
    let balance = try await accounts.balance(ofNamed: user).balance
    return .json(CreditCheck(sufficient: balance >= cost, balance: balance))
  }

  /// Too little is an answer with status 200: the clients of this route take every other status for a fault.
  @Sendable private func spend(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.service.name, context)
    let body = try await request.json(SpendCredits.self)
    let cost = try Amount.required(body.cost, field: "cost")
    let now = now()
    let operation = Operation(
      id: .new(at: now), user: body.userID, amount: -cost, type: .spent(body.transactionType),
      description: try Text.optional(body.description, field: "description"),
      referenceID: try Text.optional(body.referenceID, field: "reference_id"),
      referenceType: try Text.optional(body.referenceType, field: "reference_type"),
      caller: context.service.name, idempotencyKey: call == nil ? try key(body.idempotencyKey) : nil, at: now)
    return try await postings.once(call, operation) { try Self.moved($0, cost: cost) }
  }

  @Sendable private func grant(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.service.name, context)
    let body = try await request.json(GrantCredits.self)
    let now = now()
    let operation = Operation(
      id: .new(at: now), user: body.userID, amount: try Amount.required(body.amount, field: "amount"),
      type: .granted(body.transactionType), description: try Text.optional(body.description, field: "description"),
      caller: context.service.name, idempotencyKey: call == nil ? try key(body.idempotencyKey) : nil, at: now)
    return try await postings.once(call, operation) { try Self.moved($0, cost: 0) }
  }

  private static func moved(_ outcome: LedgerStore.Outcome, cost: Int) throws -> Reply {
    switch outcome {
    case .posted(let id, let balance):
      return try .json(CreditsMoved(success: true, transactionID: id, balanceAfter: balance))
    case .repeated(let id, let balance):
      var reply = try Reply.json(CreditsMoved(success: true, transactionID: id, balanceAfter: balance))
      reply.isHit = true
      return reply
    case .insufficient(let balance):
      let words = Failure.insufficientCredits(cost: cost).message
      return try .json(CreditsMoved(success: false, transactionID: nil, balanceAfter: balance, error: words))
    }
  }

  private func key(_ text: String?) throws -> String? {
    guard let text else { return nil }
    guard (1...255).contains(text.utf8.count) else {
      throw Failure.invalid(.init("idempotency_key", "must have 1 to 255 characters"))
    }
    return text
  }
}
