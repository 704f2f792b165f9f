import Foundation
import Logging
import Wire

/// Applies stored notifications of the App Store.
struct AppleEventProcessor: BillingEventProcessor {
  let verifier: AppStoreVerifier
  let purchases: ApplePurchases
  let consumption: AppleConsumption

  /// Notifications about a purchase, all of which say the same in their own way: what the App Store knows of it.
  private static let types: Set = [
    "SUBSCRIBED", "DID_RENEW", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "EXPIRED", "DID_CHANGE_RENEWAL_STATUS",
    "DID_CHANGE_RENEWAL_PREF", "OFFER_REDEEMED", "PRICE_INCREASE", "ONE_TIME_CHARGE", "CONSUMPTION_REQUEST", "REFUND",
    "REFUND_DECLINED", "REFUND_REVERSED", "REVOKE", "RENEWAL_EXTENDED",
  ]

  /// The kind of a stored event that is not a notification, but a transaction of an unknown product that an app has sent.
  static let transactionKind = "transaction"

  func process(_ event: StoredBillingEvent) async throws -> UserID? {
    do {
      return event.kind == Self.transactionKind
        ? try await purchases.apply(AppStoreReport(transaction(event.body)))
        : try await process(notification(event.body))
    } catch let unknown as UnknownProduct {
      throw ParkedEvent(unknown.description)
    } catch let failure as Failure where failure == .userNotFound {
      throw ParkedEvent("its appAccountToken is not the id of an account")
    } catch let other as NotOurPurchase {
      throw ParkedEvent(other.description)
    } catch let rejected as SignedDataRejected {
      throw ParkedEvent("its signature is not the App Store's: \(rejected.rawValue)")
    }
  }

  private func process(_ notification: VerifiedNotification) async throws -> UserID? {
    let type = notification.notification.type
    guard type != "RESCIND_CONSENT" else {
      // The account of a child is not known to the App Store, only the installed app.
      throw ParkedEvent("a parent has withdrawn the consent to the use of the app: a person has to decide")
    }
    guard Self.types.contains(type) else { throw IgnoredEvent("\(type) changes no purchase") }
    guard let report = AppStoreReport(notification) else { throw IgnoredEvent("\(type) without a transaction") }
    let owner = try await purchases.apply(report)
    if type == "CONSUMPTION_REQUEST", let owner {
      try await consumption.answer(report.transaction, of: owner, requestedAt: report.at)
    }
    return owner
  }

  private func notification(_ body: Data) async throws -> VerifiedNotification {
    try await verifier.notification(JSON.decode(SignedPayloadBody.self, from: body).signedPayload)
  }

  private func transaction(_ body: Data) async throws -> AppStoreTransaction {
    try await verifier.transaction(JSON.decode(SignedTransactionBody.self, from: body).signed_transaction)
  }
}

/// The body of a notification.
struct SignedPayloadBody: Codable, Sendable {
  let signedPayload: String
}
