import Database
import EventFeed
import Foundation
import Wire

/// The events of accounts, on their user's own topic. Each is recorded in the transaction of the posting, which has
/// locked the account.
enum CreditEvents {
  static func balanceChanged(
    to balance: Int, by operation: CreditOperation, on db: any Connection
  ) {
    balanceChanged(to: balance, by: operation.amount, operation.type, of: operation.user, at: operation.at, on: db)
  }

  /// Without an operation: credits that were held and are free again have paid a debt.
  static func balanceChanged(
    to balance: Int, by amount: Int, _ type: OperationType, of user: UserID, at now: Date, on db: any Connection
  ) {
    EventFeed.record(
      "balance_changed", to: [EventTopic.user(user)],
      ["balance": balance, "amount": amount, "type": type.rawValue], of: user, at: now, on: db)
  }
}
