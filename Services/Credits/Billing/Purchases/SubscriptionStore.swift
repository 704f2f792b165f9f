import Database
import Foundation
import Wire

/// Every statement on subscriptions. The newest state by the provider's own time wins, in whatever order states are
/// applied.
struct SubscriptionStore: Sendable {
  let database: any Database

  /// Which stored states a state may replace.
  enum Replacing: Sendable {
    /// Those of an earlier time.
    case older
    /// The one with this revision, nil when there was none, of the same or an earlier time: for a state that was fetched
    /// after that one had been read.
    case revision(Int?)
  }

  /// Applies a state. Returns false when the stored state may not be replaced; then nothing has changed.
  @discardableResult
  func apply(_ state: Subscription, replacing: Replacing = .older) async throws -> Bool {
    try await database.write { db in try Self.apply(state, replacing: replacing, on: db) }
  }

  /// The subscription of a user who has been erased stays without a user.
  static func apply(_ state: Subscription, replacing: Replacing = .older, on db: any Connection) throws -> Bool {
    let (isFetched, revision) =
      switch replacing {
      case .older: (false, -1)
      case .revision(let revision): (true, revision ?? 0)
      }
    return try db.change(
      """
      insert into billing_subscription (provider, subscription_id, user_id, product_id, tier, level, status,
        current_period_end, will_renew, environment, state_at)
      values (\(state.provider.rawValue), \(state.id), \(state.user), \(state.productID), \(state.tier), \(state.level),
        \(state.status.rawValue), \(state.currentPeriodEnd), \(state.willRenew), \(state.environment),
        \(state.stateAt))
      on conflict (provider, subscription_id) do update set product_id = excluded.product_id, tier = excluded.tier,
        level = excluded.level, status = excluded.status, current_period_end = excluded.current_period_end,
        will_renew = excluded.will_renew, environment = excluded.environment, state_at = excluded.state_at,
        revision = billing_subscription.revision + 1
      where (billing_subscription.state_at < excluded.state_at and not \(isFetched))
        or (billing_subscription.state_at <= excluded.state_at and billing_subscription.revision = \(revision))
      """) == 1
  }

  func subscription(_ provider: PurchaseProvider, _ id: String) async throws -> StoredSubscription? {
    try await database.readOnce { try Self.subscription(provider, id, on: $0) }
  }

  static func subscription(
    _ provider: PurchaseProvider, _ id: String, on db: any Connection
  ) throws -> StoredSubscription? {
    try db.row(
      """
      select provider, subscription_id, user_id, product_id, tier, level, status, current_period_end, will_renew,
        environment, state_at, revision
      from billing_subscription where provider = \(provider.rawValue) and subscription_id = \(id)
      """
    ).map(StoredSubscription.init)
  }

  func subscriptions(of user: UserID) async throws -> [StoredSubscription] {
    try await database.readOnce { db in
      try db.rows(
        """
        select provider, subscription_id, user_id, product_id, tier, level, status, current_period_end, will_renew,
          environment, state_at, revision
        from billing_subscription where user_id = \(user) limit 1000
        """
      ).map(StoredSubscription.init)
    }
  }

  /// Assigns a subscription to the user who has bought its current period, who may be another than before.
  static func assign(_ provider: PurchaseProvider, _ id: String, to user: UserID, on db: any Connection) throws {
    try db.change(
      """
      update billing_subscription set user_id = \(user)
      where provider = \(provider.rawValue) and subscription_id = \(id)
      """)
  }

  /// Removes the user from the subscriptions. The rows stay, so that later events do not assign them again.
  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("update billing_subscription set user_id = null where user_id = \(user)")
  }
}

extension StoredSubscription {
  fileprivate init(_ row: Row) throws {
    provider = try row.enumValue("provider")
    id = try row.get("subscription_id")
    user = try row.optional("user_id")
    productID = try row.get("product_id")
    tier = try row.get("tier")
    level = try row.get("level")
    status = try row.enumValue("status")
    currentPeriodEnd = try row.optional("current_period_end")
    willRenew = try row.get("will_renew")
    environment = try row.get("environment")
    stateAt = try row.get("state_at")
    revision = try row.get("revision")
  }
}
