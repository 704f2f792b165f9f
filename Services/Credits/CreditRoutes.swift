import Foundation
import Hummingbird
import Web
import Wire

/// What the apps see of their credits, and the admin's grant.
struct CreditRoutes: Sendable {
  let accounts: Accounts
  let postings: Postings
  let adminKey: String
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    routes.get("/api/v1/credits/costs") { _, _ in Response.json(["costs": costs]) }
    routes.post("/api/v1/credits/admin/grant", use: grant)
    let mine = routes.group(context: SignedIn.self)
    mine.get("/api/v1/credits/balance", use: balance)
    mine.get("/api/v1/credits/history", use: history)
  }

  @Sendable private func balance(_ request: Request, _ context: SignedIn) async throws -> Response {
    .json(BalanceBody(try await accounts.balance(ofSignedIn: context.user)))
  }

  @Sendable private func history(_ request: Request, _ context: SignedIn) async throws -> Response {
    let limit = try request.queryNumber("limit", default: 20, in: 1...100)
    let offset = try request.queryNumber("offset", default: 0, in: 0...Int(Int32.max))
    _ = try await accounts.balance(ofSignedIn: context.user)
    let entries = try await accounts.store.history(of: context.user, limit: limit, offset: offset)
    return .json(entries.map(HistoryBody.init))
  }

  /// Refused before the body is looked at.
  @Sendable private func grant(_ request: Request, _ context: Context) async throws -> Response {
    try requireAdmin(request, adminKey)
    var request = request
    let call = try await request.idempotentCall(by: "admin", context)
    let body = try await request.json(AdminGrantBody.self)
    let (amount, description) = try FieldErrors.collected(
      { try Amount.required(body.amount, field: "amount") },
      { try Text.optional(body.description, field: "description") })
    let now = now()
    let operation = Operation(
      id: .new(at: now), user: body.user_id, amount: amount, type: .granted(body.transaction_type),
      description: description ?? "Manual top-up", caller: "admin", at: now)
    return try await postings.once(call, operation) { outcome in
      guard case .posted(_, let balance) = outcome else { throw Failure.broken }
      return try .json(GrantedBody(balance: balance, granted: amount))
    }
  }
}

/// Amounts as clients may state them.
enum Amount {
  /// - Throws: the validation failure that names `field`, unless it is from 1 to ``Operation/amountMax``.
  static func required(_ amount: Int, field: String) throws(Failure) -> Int {
    guard (1...Operation.amountMax).contains(amount) else {
      throw .invalid(.init(field, "must be from 1 to \(Operation.amountMax)"))
    }
    return amount
  }
}

/// Free text that goes into the ledger for good.
enum Text {
  /// - Throws: the validation failure that names `field`, over 500 characters. Empty is nil.
  static func optional(_ text: String?, field: String) throws(Failure) -> String? {
    guard let text, !text.isEmpty else { return nil }
    guard text.unicodeScalars.count <= 500 else { throw .invalid(.init(field, "must have at most 500 characters")) }
    return text
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

private struct BalanceBody: Encodable {
  let balance: Int
  let lifetime_earned: Int
  let lifetime_spent: Int

  init(_ balance: Balance) {
    self.balance = balance.balance
    self.lifetime_earned = balance.lifetimeEarned
    self.lifetime_spent = balance.lifetimeSpent
  }
}

struct HistoryBody: Encodable {
  let amount: Int
  let balance_after: Int
  let type: String
  @OrNull var description: String?
  @OrNull var reference_id: String?
  @OrNull var reference_type: String?
  let created_at: Date

  init(_ entry: HistoryEntry) {
    amount = entry.amount
    balance_after = entry.balanceAfter
    type = entry.type
    _description = OrNull(wrappedValue: entry.description)
    _reference_id = OrNull(wrappedValue: entry.referenceID)
    _reference_type = OrNull(wrappedValue: entry.referenceType)
    created_at = entry.createdAt
  }
}
