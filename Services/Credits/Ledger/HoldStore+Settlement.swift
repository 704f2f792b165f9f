import Database
import Foundation
import Web
import Wire

/// How holds end. The update of the hold's row decides between callers that end it at once.
extension HoldStore {
  /// Captures, releases or expires an open hold, in one transaction. Safe to repeat.
  ///
  /// - Throws: 404 for an unknown hold; 409 for one that has ended in another way, and for one whose time is over; 422
  ///   for a capture of more than the hold has.
  static func settle(
    _ id: HoldID, as settlement: HoldSettlement, at now: Date, on db: any Connection
  ) throws -> SettledHold {
    guard let hold = try close(id, as: settlement, at: now, on: db) else {
      return try earlierSettlement(of: id, as: settlement, at: now, on: db)
    }
    let captured = settlement.captured(of: hold.cost)
    let account = try giveBack(hold, capturing: captured, on: db)
    try LotStore.enqueueSettlement(of: id, capturing: captured, on: db)
    let paidDebt = account.paidDebt(of: hold.cost - captured)
    if paidDebt > 0 { try LotStore.enqueueTaking(paidDebt, from: hold.user, on: db) }
    if captured > 0 {
      let operation = CreditOperation(
        id: .new(at: now), user: hold.user, amount: -captured, type: hold.type, description: hold.description,
        referenceID: hold.referenceID, referenceType: hold.referenceType, caller: hold.caller, at: now)
      try operation.enqueuePostings(at: account.postingCount, net: account.net, capturing: id, on: db)
      CreditEvents.balanceChanged(to: account.balance, by: operation, on: db)
    } else if paidDebt > 0 {
      CreditEvents.balanceChanged(to: account.balance, by: -paidDebt, hold.type, of: hold.user, at: now, on: db)
    }
    try db.enqueue("update credit_hold set settled_balance = \(account.balance) where id = \(id)")
    return SettledHold(id: id, state: settlement.state, balance: account.balance)
  }

  /// Ends an open hold; nil when it is not open, when its time is over, or for ``HoldSettlement/expire`` is not, or when
  /// it has less than is to be captured.
  ///
  /// The time is compared in a `case`, so that the row is found by its key, not by the index of open holds by time.
  private static func close(
    _ id: HoldID, as settlement: HoldSettlement, at now: Date, on db: any Connection
  ) throws -> CreditHold? {
    let columns: SQL =
      "id, account_id, amount, type, description, reference_id, reference_type, caller, created_at, expires_at"
    let row =
      switch settlement {
      case .capture(let amount):
        try db.row(
          """
          update credit_hold set state = 'captured', captured = coalesce(\(amount), amount), settled_at = \(now)
          where id = \(id) and state = 'open' and case when expires_at > \(now) then 1 else 0 end = 1
            and amount >= coalesce(\(amount), amount)
          returning \(columns)
          """)
      case .release:
        try db.row(
          """
          update credit_hold set state = 'released', settled_at = \(now)
          where id = \(id) and state = 'open' and case when expires_at > \(now) then 1 else 0 end = 1
          returning \(columns)
          """)
      case .expire:
        try db.row(
          """
          update credit_hold set state = 'expired', settled_at = \(now)
          where id = \(id) and state = 'open' and expires_at <= \(now) returning \(columns)
          """)
      }
    return try row.map(CreditHold.init)
  }

  /// Ends the reservation in the account's row. What is given back pays debt first.
  private static func giveBack(
    _ hold: CreditHold, capturing captured: Int, on db: any Connection
  ) throws -> ChangedAccount {
    let rest = hold.cost - captured
    let row = try db.row(
      """
      update ledger_account set held = held - \(hold.cost),
        balance = held - \(hold.cost)
          + case when balance - held - debt + \(rest) > 0 then balance - held - debt + \(rest) else 0 end,
        debt = case when balance - held - debt + \(rest) < 0 then held + debt - balance - \(rest) else 0 end,
        posting_count = posting_count + \(captured > 0 ? 1 : 0), lifetime_spent = lifetime_spent + \(captured)
      where id = \(hold.user) returning \(ChangedAccount.columns)
      """)
    // The hold's foreign key: its account is there.
    guard let account = try row.map(ChangedAccount.init) else { throw DatabaseFailure.foreignKey }
    return account
  }

  /// The earlier end of a hold that could not be ended.
  private static func earlierSettlement(
    of id: HoldID, as settlement: HoldSettlement, at now: Date, on db: any Connection
  ) throws -> SettledHold {
    let row = try db.row(
      "select state, amount, captured, settled_balance, expires_at from credit_hold where id = \(id)")
    guard let row else { throw Failure.holdNotFound }
    let (state, cost) = (try row.enumValue("state") as HoldState, try row.get("amount", as: Int.self))
    if state == settlement.state, try row.get("captured") == settlement.captured(of: cost) {
      return SettledHold(id: id, state: state, balance: try row.get("settled_balance"), isRepeated: true)
    }
    if case .capture(let amount?) = settlement, amount > cost, state == .open, try row.get("expires_at") > now {
      throw Failure.invalid(.init("amount", "must be at most \(cost), which is held"))
    }
    // Also in the last fraction of a millisecond of its time, which the statement rounds away.
    throw state == .open || state == .expired ? Failure.holdExpired : .holdSettled(state)
  }
}

extension CreditHold {
  fileprivate init(_ row: Row) throws {
    self.init(
      id: try row.get("id"), user: try row.get("account_id"), cost: try row.get("amount"),
      type: try row.enumValue("type"), description: try row.optional("description"),
      referenceID: try row.optional("reference_id"), referenceType: try row.optional("reference_type"),
      caller: try row.get("caller"), at: try row.get("created_at"), expiresAt: try row.get("expires_at"))
  }
}
