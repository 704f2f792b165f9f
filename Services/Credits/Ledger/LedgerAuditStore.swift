import Database
import Foundation
import Wire

/// SQL of the audits. Each statement reads a bounded number of rows by an index, and sees one snapshot: what concurrent
/// transactions have half done is never seen.
enum LedgerAuditStore {
  /// How many operations a batch has.
  static let operationBatch = 2000
  /// How many accounts are read by one statement.
  static let accountBatch = 100

  private static let operationColumns: SQL = """
    o.id, count(p.account_id) as posting_count, cast(coalesce(sum(p.amount), 0) as bigint) as posting_sum,
      max(case when p.position is not null then p.account_id end) as account_id,
      coalesce(max(case when p.position is not null and p.balance_after = p.amount + coalesce(q.balance_after, 0)
        and (p.position = 1 or q.position is not null) then 1 else 0 end), 0) as is_linked
    """
  private static let operationPostings: SQL = """
    left join ledger_posting p on p.operation_id = o.id
    left join ledger_posting q on q.account_id = p.account_id and q.position = p.position - 1
    group by o.id order by o.id
    """

  /// The operations after one, in the order of their ids.
  static func operations(after id: OperationID, on db: any Connection) throws -> [AuditedOperation] {
    try db.rows(
      """
      select \(operationColumns)
      from (select id from ledger_operation where id > \(id) order by id limit 2000) o \(operationPostings)
      """
    ).map(AuditedOperation.init)
  }

  static func operations(_ ids: [OperationID], on db: any Connection) throws -> [AuditedOperation] {
    try db.rows(
      """
      select \(operationColumns)
      from (select id from ledger_operation where id in (\(list: ids))) o \(operationPostings)
      """
    ).map(AuditedOperation.init)
  }

  /// The users' accounts after one, in the order of their ids.
  static func accounts(after id: String, on db: any Connection) throws -> [String] {
    try db.rows("select id from ledger_account where id > \(id) and kind = 'user' order by id limit \(accountBatch)")
      .map { try $0.get("id") }
  }

  /// The accounts whose holds may have changed since a time: those with an open hold, and those whose hold has ended.
  static func accounts(withHoldsSince time: Date, on db: any Connection) throws -> Set<String> {
    let rows = try db.rows(of: [
      "select distinct account_id from credit_hold where state = 'open'",
      "select account_id from credit_hold where settled_at >= \(time)",
    ])
    return Set(try rows.joined().map { try $0.get("account_id") })
  }

  static func accounts(_ ids: [String], on db: any Connection) throws -> [AuditedAccount] {
    guard let last = ids.last else { return [] }
    // Repeated up to the size of a batch, so that there is one statement to prepare.
    let list = ids + Array(repeating: last, count: max(0, accountBatch - ids.count))
    return try db.rows(
      """
      select a.id, a.balance, a.held, a.debt, a.lifetime_earned - a.lifetime_spent as lifetime,
        case when a.posting_count = 0 then 0 else (select p.balance_after from ledger_posting p
          where p.account_id = a.id and p.position = a.posting_count) end as posted,
        coalesce((select cast(sum(h.amount) as bigint) from credit_hold h
          where h.account_id = a.id and h.state = 'open'), 0) as open_holds,
        coalesce((select cast(sum(r.amount) as bigint) from credit_hold h join credit_hold_lot r on r.hold_id = h.id
          where h.account_id = a.id and h.state = 'open'), 0) as reserved,
        coalesce((select cast(sum(l.remaining) as bigint) from credit_lot l
          where l.account_id = a.id and l.is_open), 0) as lots_remaining,
        coalesce((select cast(sum(l.held) as bigint) from credit_lot l
          where l.account_id = a.id and l.is_open), 0) as lots_held
      from ledger_account a where a.id in (\(list: list))
      """
    ).map(AuditedAccount.init)
  }
}

extension AuditedOperation {
  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    postingCount = try row.get("posting_count")
    sum = try row.get("posting_sum")
    account = try row.optional("account_id")
    isLinked = try row.get("is_linked")
  }
}

extension AuditedAccount {
  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    balance = try row.get("balance")
    held = try row.get("held")
    debt = try row.get("debt")
    lifetime = try row.get("lifetime")
    posted = try row.optional("posted")
    openHolds = try row.get("open_holds")
    reserved = try row.get("reserved")
    remainingOfLots = try row.get("lots_remaining")
    heldOfLots = try row.get("lots_held")
  }
}
