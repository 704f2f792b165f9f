import ClientBodies
import Foundation
import HTTPTypes
import Hummingbird
import Web
import Wire

/// Credit routes for the apps, and the administrator's grant.
struct CreditRoutes: Sendable {
  let accounts: CreditAccounts
  let posting: IdempotentPosting
  let costs: OperationCosts
  let adminKey: String
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let costs = Response.json(CreditCostsAnswer(costs: costs.credits))
    routes.get("/api/v1/credits/costs") { _, _ in costs }
    routes.post("/api/v1/credits/admin/grant", use: grant)
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.get("/api/v1/credits/balance", use: balance)
    routes.onLoop("/api/v1/credits/balance", respond: settledBalance)
    userRoutes.get("/api/v1/credits/history", use: history)
  }

  @Sendable private func balance(_ request: Request, _ context: SignedIn) async throws -> Response {
    .json(CreditBalance(try await accounts.balance(ofSignedIn: context.user)))
  }

  /// The balance of an account that is as it was stored.
  @Sendable private func settledBalance(_ request: LoopRequest) -> LoopResult? {
    guard let user = request.user else { return nil }
    return request.result(reading: LedgerStore.accountQuery(user), in: accounts.store.database) { [now] row in
      guard let account = try row.map(LedgerStore.Account.init), account.isSettled(at: now()) else { return nil }
      return try .json(CreditBalance(account.balance))
    }
  }

  @Sendable private func history(_ request: Request, _ context: SignedIn) async throws -> Response {
    let limit = try request.queryNumber("limit", default: 20, in: 1...100)
    let offset = try request.queryNumber("offset", default: 0, in: 0...Int(Int32.max))
    let cursor = try request.uri.queryParameters["cursor"].map { try HistoryCursor(String($0)) }
    guard cursor == nil || offset == 0 else {
      throw Failure.invalid(.init("offset", "must be left out with a cursor"))
    }
    _ = try await accounts.balance(ofSignedIn: context.user)
    let entries = try await accounts.store.history(of: context.user, limit: limit, offset: offset, before: cursor)
    var response = Response.json(entries.map(CreditEntry.init))
    response.headers[.link] = entries.last.flatMap { Self.nextPage(after: $0, limit: limit) }
    return response
  }

  /// The link to the page after an entry (RFC 8288); nil after the oldest entry.
  private static func nextPage(after entry: HistoryEntry, limit: Int) -> String? {
    guard entry.position > 1 else { return nil }
    let cursor = HistoryCursor(position: entry.position).text
    return "</api/v1/credits/history?limit=\(limit)&cursor=\(cursor)>; rel=\"next\""
  }

  /// Checks the administrator's key before it reads the body.
  @Sendable private func grant(_ request: Request, _ context: Context) async throws -> Response {
    try requireAdmin(request, adminKey)
    var request = request
    let call = try await request.idempotentCall(by: "admin", context)
    let body = try await request.json(AdminGrantBody.self)
    let (amount, description) = try FieldErrors.collected(
      { try CreditAmount.required(body.amount, field: "amount") },
      { try LedgerText.optional(body.description, field: "description") })
    let now = now()
    let operation = CreditOperation(
      id: .new(at: now), user: body.user_id, amount: amount, type: .granted(body.transaction_type),
      description: description ?? "Manual top-up", caller: "admin", at: now)
    return try await posting.post(call, operation) { outcome in
      guard case .posted(_, let balance) = outcome else { throw Failure.broken }
      return try .json(GrantedBody(balance: balance, granted: amount))
    }
  }
}

private struct AdminGrantBody: Decodable {
  let user_id: UserID
  let amount: Int
  let transaction_type: String?
  let description: String?
}

private struct GrantedBody: Encodable {
  let balance: Int
  let granted: Int
}

extension CreditBalance {
  fileprivate init(_ balance: Balance) {
    self.init(
      balance: balance.current, available: balance.available, held: balance.held, debt: balance.debt,
      lifetimeEarned: balance.lifetimeEarned, lifetimeSpent: balance.lifetimeSpent)
  }
}

extension HTTPField.Name {
  // `!`: the name is a constant that is a valid token.
  static let link = Self("Link")!
}
