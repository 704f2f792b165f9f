import Database
import Foundation
import Logging
import Prometheus
import ServiceLifecycle
import Web
import Wire

/// Asks the App Store for what it could not deliver, as after an outage: the notifications of the last hours, and the
/// transactions and states of subscriptions whose period has ended without a word.
struct AppleReconciliation: Service {
  private let client: AppStoreServerClient
  private let verifier: AppStoreVerifier
  private let purchases: ApplePurchases
  private let inbox: BillingInbox
  private let database: any Database
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let pollInterval: Duration
  private let intervalSeconds: Double
  private let outcomes: Counter

  /// A notification may be listed a while after it was signed.
  private static let overlapSeconds = 3600.0
  /// How long a reading may take before another replica begins one.
  private static let claimSeconds = 900.0
  /// A process that starts reads the history when it has not been read for so long: the service may have been down.
  private static let gapSeconds = 600.0
  private static let retrySeconds = 300.0
  private static let staleIntervalSeconds = 6 * 3600.0
  private static let staleCountMax = 20

  /// - Parameter intervalSeconds: between two readings of the history.
  init(
    client: AppStoreServerClient, verifier: AppStoreVerifier, purchases: ApplePurchases, inbox: BillingInbox,
    intervalSeconds: Double, in dependencies: Dependencies
  ) {
    self.client = client
    self.verifier = verifier
    self.purchases = purchases
    self.inbox = inbox
    self.database = purchases.store.database
    self.logger = dependencies.logger
    self.now = dependencies.now
    self.pollInterval = dependencies.pollInterval
    self.intervalSeconds = intervalSeconds
    outcomes = dependencies.registry.counter(
      "kith_app_store_reconciliations_total",
      "Questions to the App Store about what it could not deliver, by what was asked for and the outcome.",
      labels: ["subject", "outcome"])
  }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var isFirst = true
      await repeatUntilCancelled(every: pollInterval) {
        for app in apps {
          await readNotifications(of: app, afterStart: isFirst)
        }
        await checkStaleSubscriptions()
        isFirst = false
      }
    }
  }

  private var apps: [AppStoreServerClient.App] {
    verifier.apps.bundleIDs.sorted().flatMap { bundleID in
      AppStoreEnvironment.allCases.filter(verifier.apps.environments.contains).map { environment in
        .init(bundleID: bundleID, environment: environment)
      }
    }
  }

  // MARK: Notifications

  private func readNotifications(of app: AppStoreServerClient.App, afterStart: Bool) async {
    let now = now()
    do {
      let readUntil = try await database.write { db in
        try AppleHistoryStore.claim(
          app, at: now, until: now + Self.claimSeconds,
          orReadBefore: afterStart ? now - Self.gapSeconds : nil, on: db)
      }
      guard let readUntil else { return }
      do {
        let missed = try await store(from: readUntil - Self.overlapSeconds, to: now, of: app)
        if missed > 0 { logger.notice("notifications of the App Store were missed", metadata: ["count": "\(missed)"]) }
        outcomes.add("notifications", "read")
        try await finish(app, readUntil: now, due: now + intervalSeconds)
      } catch {
        try await finish(app, readUntil: nil, due: failed("notifications", error))
      }
    } catch { logger.warning("the App Store's history was not read", metadata: ["error": "\(error)"]) }
  }

  /// Stores the notifications that are not in the inbox yet. Returns how many.
  private func store(from start: Date, to end: Date, of app: AppStoreServerClient.App) async throws -> Int {
    var (count, next): (Int, String?) = (0, nil)
    for _ in 0..<AppStoreServerClient.pagesMax {
      try Task.checkCancellation()
      let page = try await client.notifications(of: app, from: start, to: end, after: next)
      for payload in page.signedPayloads where try await isNew(payload) { count += 1 }
      next = page.next
      guard next != nil else { return count }
    }
    throw TooManyPages()
  }

  private func isNew(_ payload: String) async throws -> Bool {
    let notification: AppStoreNotification
    do { notification = try await verifier.notificationOfAnyApp(payload) } catch {
      inbox.countRejected(.apple)
      return false
    }
    return try await inbox.store(
      .apple, eventID: notification.id, kind: notification.type,
      JSON.encode(SignedPayloadBody(signedPayload: payload)), at: now())
  }

  private func finish(_ app: AppStoreServerClient.App, readUntil: Date?, due: Date) async throws {
    try await database.write { db in try AppleHistoryStore.finish(app, readUntil: readUntil, due: due, on: db) }
  }

  // MARK: Subscriptions

  private func checkStaleSubscriptions() async {
    let now = now()
    do {
      let all = try await database.write { db in
        try AppleSubscriptionStore.claimStale(
          at: now, next: now + Self.staleIntervalSeconds, limit: Self.staleCountMax, on: db)
      }
      for subscription in all where !Task.isCancelled {
        do {
          try await check(subscription.transactionID, in: subscription.app)
          outcomes.add("subscriptions", "read")
        } catch { _ = failed("subscriptions", error) }
      }
    } catch { logger.warning("stale subscriptions were not checked", metadata: ["error": "\(error)"]) }
  }

  /// Asks first the environment in which it was bought. A build for review buys in the sandbox what later is in production.
  private func check(_ transaction: String, in app: AppStoreServerClient.App) async throws {
    do { try await apply(customerWith: transaction, in: app) } catch let error as AppStoreServerError
      where error.isUnknownTransaction
    {
      let other = apps.first { $0.bundleID == app.bundleID && $0.environment != app.environment }
      guard let other else { throw error }
      try await apply(customerWith: transaction, in: other)
    }
  }

  private func apply(customerWith transaction: String, in app: AppStoreServerClient.App) async throws {
    for text in try await client.transactions(ofCustomerWith: transaction, in: app) {
      try await apply(AppStoreReport(try await verifier.transaction(text)))
    }
    for status in try await client.statuses(ofCustomerWith: transaction, in: app) {
      guard let phase = SubscriptionState.Phase(rawValue: status.status), let text = status.signedTransactionInfo
      else { continue }
      var renewal: AppStoreRenewal?
      if let text = status.signedRenewalInfo { renewal = try await verifier.renewal(text) }
      try await apply(AppStoreReport(try await verifier.transaction(text), renewal, phase: phase))
    }
  }

  /// The customer may have bought what is not for this server to sell.
  private func apply(_ report: AppStoreReport) async throws {
    do { try await purchases.apply(report) } catch let unknown as UnknownProduct {
      logger.notice("a transaction of the App Store is left out", metadata: ["reason": "\(unknown)"])
    }
  }

  /// - Returns: when to try again.
  private func failed(_ subject: String, _ error: any Error) -> Date {
    let failure = error as? AppStoreServerError
    logger.log(
      level: failure?.isUnauthorized == true ? .error : .warning, "the App Store was asked in vain",
      metadata: ["subject": "\(subject)", "error": "\(error)"])
    outcomes.add(subject, "failed")
    return now() + max(failure?.retryAfter.map { Double($0.components.seconds) + 1 } ?? 0, Self.retrySeconds)
  }
}

/// The App Store's history does not end. What has been read is stored; the next reading begins where this one did.
private struct TooManyPages: Error {}
