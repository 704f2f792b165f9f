import Foundation
import Hummingbird
import Web
import Wire

/// The ledger for other services, and for external systems whose key has the scope `credits`.
struct InternalCreditRoutes: Sendable {
  let accounts: CreditAccounts
  let posting: IdempotentPosting
  let holds: HoldRoutes
  let auditor: LedgerAuditor
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let services = routes.group(context: ServiceCaller.self)
      .add(middleware: RequiresService(["auth", "invites", "groups", "lists", "timepoints"], scope: "credits"))
    services.get("/internal/credits/check", use: check)
    services.get("/internal/credits/audit", use: audit)
    services.post("/internal/credits/spend", use: spend)
    services.post("/internal/credits/grant", use: grant)
    holds.add(to: services)
  }

  /// Audits what has changed since the last audit.
  @Sendable private func audit(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    .json(AuditBody(try await auditor.audit()))
  }

  @Sendable private func check(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    guard let user = request.uri.queryParameters["user_id"].flatMap({ UserID(String($0)) }) else {
      throw Failure.invalid(.init("user_id", "must be a UUID"))
    }
    let cost = try request.queryNumber("cost", default: 0, in: 0...CreditOperation.amountMax)
    let balance = try await accounts.balance(ofUnchecked: user)
    return .json(CreditCheck(sufficient: balance.available >= cost, balance: balance.current))
  }

  /// A balance that is too small is answered with status 200: the clients of this route treat every other status as a
  /// fault.
  @Sendable private func spend(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.service.name, context)
    let body = try await request.json(SpendCredits.self)
    let cost = try CreditAmount.required(body.cost, field: "cost")
    let now = now()
    var operation = CreditOperation(
      id: .new(at: now), user: body.userID, amount: -cost, type: .spent(body.transactionType),
      description: try LedgerText.optional(body.description, field: "description"),
      referenceID: try LedgerText.optional(body.referenceID, field: "reference_id"),
      referenceType: try LedgerText.optional(body.referenceType, field: "reference_type"),
      caller: context.service.name, idempotencyKey: call == nil ? try BodyKey.optional(body.idempotencyKey) : nil,
      at: now)
    operation.createsDebt = body.createsDebt ?? false
    guard operation.type == .refund || !operation.createsDebt else {
      throw Failure.invalid(.init("creates_debt", "is for the transaction type refund"))
    }
    return try await posting.post(call, operation) { try Self.reply(for: $0, cost: cost) }
  }

  @Sendable private func grant(_ request: Request, _ context: ServiceCaller) async throws -> Response {
    var request = request
    let call = try await request.idempotentCall(by: context.service.name, context)
    let body = try await request.json(GrantCredits.self)
    let now = now()
    var operation = CreditOperation(
      id: .new(at: now), user: body.userID, amount: try CreditAmount.required(body.amount, field: "amount"),
      type: .granted(body.transactionType),
      description: try LedgerText.optional(body.description, field: "description"),
      caller: context.service.name, idempotencyKey: call == nil ? try BodyKey.optional(body.idempotencyKey) : nil,
      at: now)
    operation.expiresAt = body.expiresAt
    return try await posting.post(call, operation) { try Self.reply(for: $0, cost: 0) }
  }

  private static func reply(for outcome: LedgerStore.Outcome, cost: Int) throws -> Reply {
    switch outcome {
    case .posted(let id, let balance):
      return try .json(CreditTransactionResult(success: true, transactionID: id, balanceAfter: balance))
    case .repeated(let id, let balance):
      var reply = try Reply.json(CreditTransactionResult(success: true, transactionID: id, balanceAfter: balance))
      reply.isRepeated = true
      return reply
    case .insufficient(let balance):
      let message = Failure.insufficientCredits(cost: cost).message
      return try .json(
        CreditTransactionResult(success: false, transactionID: nil, balanceAfter: balance, error: message))
    }
  }
}
