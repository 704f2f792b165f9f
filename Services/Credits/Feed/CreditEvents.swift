import Database
import EventFeed
import Wire

/// The events of accounts, on their user's own topic. Each is recorded in the transaction of the posting, which has
/// locked the account.
enum CreditEvents {
  static func balanceChanged(
    to balance: Int, by operation: CreditOperation, on db: any Connection
  ) {
    EventFeed.record(
      "balance_changed", to: [EventTopic.user(operation.user)],
      ["balance": balance, "amount": operation.amount, "type": operation.type.rawValue], of: operation.user,
      at: operation.at, on: db)
  }
}
