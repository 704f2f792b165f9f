import Database
import Foundation
import Wire

/// SQL on lots: what is left of each grant. The transaction has locked the account's row before, so that its lots do
/// not change meanwhile, and no statement here needs a round trip of its own.
enum LotStore {
  /// Makes the lot of a grant.
  ///
  /// - Parameter debt: how much of the grant has paid debt.
  static func enqueueLot(
    of grant: CreditOperation, at position: Int, payingDebt debt: Int, on db: any Connection
  ) throws {
    let remaining = grant.amount - debt
    try db.enqueue(
      """
      insert into credit_lot (operation_id, account_id, position, amount, remaining, is_open, expires_at)
      values (\(grant.id), \(grant.user), \(position), \(grant.amount), \(remaining), \(remaining > 0),
        \(grant.expiresAt))
      """)
    guard let expiry = grant.expiresAt, remaining > 0 else { return }
    try db.enqueue(
      """
      update ledger_account set lots_expire_at = \(expiry)
      where id = \(grant.user) and (lots_expire_at is null or lots_expire_at > \(expiry))
      """)
  }

  /// Takes an amount, or as much as is there, from the lots that expire first, except for what is held. Each has one
  /// credit or more, so that no more than `amount` of them are read.
  static func enqueueTaking(_ amount: Int, from user: UserID, on db: any Connection) throws {
    try db.enqueue(
      """
      update credit_lot set remaining = credit_lot.remaining - taken.amount,
        is_open = credit_lot.remaining > taken.amount
      from (
        select operation_id, case when free < \(amount) - before then free else \(amount) - before end as amount
        from (
          select operation_id, free,
            cast(sum(free) over (order by expires_at nulls last, position) as bigint) - free as before
          from (
            select operation_id, position, expires_at, remaining - held as free from credit_lot
            where account_id = \(user) and is_open and remaining > held
            order by expires_at nulls last, position limit \(amount)) candidate
        ) lot where before < \(amount)
      ) taken where credit_lot.operation_id = taken.operation_id
      """)
  }

  /// Reserves the amount of a hold in the lots that expire first. What is reserved does not expire.
  static func enqueueReservation(_ amount: Int, for hold: HoldID, of user: UserID, on db: any Connection) throws {
    try db.enqueue(
      """
      insert into credit_hold_lot (hold_id, lot_id, amount)
      select \(hold), operation_id, case when free < \(amount) - before then free else \(amount) - before end
      from (
        select operation_id, free,
          cast(sum(free) over (order by expires_at nulls last, position) as bigint) - free as before
        from (
          select operation_id, position, expires_at, remaining - held as free from credit_lot
          where account_id = \(user) and is_open and remaining > held
          order by expires_at nulls last, position limit \(amount)) candidate
      ) lot where before < \(amount)
      """)
    try db.enqueue(
      """
      update credit_lot set held = credit_lot.held + reserved.amount from credit_hold_lot reserved
      where reserved.hold_id = \(hold) and credit_lot.operation_id = reserved.lot_id
      """)
  }

  /// Ends the reservation of a hold: `captured` of it is taken from the lots that expire first, the rest is given back
  /// to its lots, some of which may have expired meanwhile.
  static func enqueueSettlement(of hold: HoldID, capturing captured: Int, on db: any Connection) throws {
    try db.enqueue(
      """
      update credit_lot set held = credit_lot.held - part.amount, remaining = credit_lot.remaining - part.captured,
        is_open = credit_lot.remaining > part.captured
      from (
        select lot_id, amount, case when \(captured) - before > amount then amount
          when \(captured) > before then \(captured) - before else 0 end as captured
        from (
          select r.lot_id, r.amount,
            cast(sum(r.amount) over (order by l.expires_at nulls last, l.position) as bigint) - r.amount as before
          from credit_hold_lot r join credit_lot l on l.operation_id = r.lot_id where r.hold_id = \(hold)) reserved
      ) part where credit_lot.operation_id = part.lot_id
      """)
    try db.enqueue(
      """
      update ledger_account set lots_expire_at = first.expires_at
      from (
        select l.account_id, min(l.expires_at) as expires_at
        from credit_hold_lot r join credit_lot l on l.operation_id = r.lot_id and l.is_open
        where r.hold_id = \(hold) group by l.account_id) first
      where ledger_account.id = first.account_id and first.expires_at is not null
        and (lots_expire_at is null or lots_expire_at > first.expires_at)
      """)
  }
}
