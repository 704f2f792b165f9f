import ClientBodies
import Foundation
import Hummingbird
import Web
import Wire

/// The routes of purchases in the App Store: for the app, and for the App Store's notifications.
struct ApplePurchaseRoutes: Sendable {
  /// nil when Apple purchases are not configured.
  let verifier: AppStoreVerifier?
  /// The variables that are not set.
  let missing: [String]
  let purchases: ApplePurchases
  let inbox: BillingInbox
  let now: @Sendable () -> Date

  /// Three certificates and signatures are verified: off the event loop.
  func add(to routes: HTTPRoutes) {
    routes.offEventLoop().post("/webhooks/apple", use: receive)
    let userRoutes = routes.group(context: SignedIn.self)
    userRoutes.offEventLoop().post("/api/v1/billing/apple/verify", use: verify)
    userRoutes.put("/api/v1/billing/apple/consent", use: setConsent)
  }

  /// Stores the notification, whichever app it is for: the worker parks what is not ours. The App Store sends it again
  /// until the response is a 200.
  @Sendable private func receive(_ request: Request, _ context: Context) async throws -> Response {
    let verifier = try configured()
    var request = request
    let content = Data(buffer: try await request.bufferBody(upTo: AppStoreSignedData.bytesMax))
    let body = try await request.json(SignedPayloadBody.self, bytesMax: AppStoreSignedData.bytesMax)
    let notification: AppStoreNotification
    do { notification = try await verifier.notificationOfAnyApp(body.signedPayload) } catch {
      inbox.countRejected(.apple)
      throw Failure.invalidNotification
    }
    try await inbox.store(.apple, eventID: notification.id, kind: notification.type, content, at: now())
    return .json(["received": true])
  }

  @Sendable private func verify(_ request: Request, _ context: SignedIn) async throws -> Response {
    let verifier = try configured()
    let text = try await request.json(SignedTransactionBody.self).signed_transaction
    let transaction: AppStoreTransaction
    do { transaction = try await verifier.transaction(text) } catch is SignedDataRejected, is NotOurPurchase {
      throw Failure.invalidTransaction
    }
    let accounts = purchases.store.accounts
    _ = try await accounts.balance(ofSignedIn: context.user)
    do {
      let purchase = try await purchases.apply(transaction, from: context.user)
      let balance = try await accounts.balance(ofSignedIn: context.user)
      return .json(GrantedPurchase(purchase, balance: balance))
    } catch let unknown as UnknownProduct {
      try await park(text, transaction, because: unknown.description)
      throw Failure.unknownProduct
    }
  }

  /// For the operator: once the product is there, the app sends the transaction again, or its notification is retried.
  private func park(_ text: String, _ transaction: AppStoreTransaction, because reason: String) async throws {
    try await inbox.store(
      .apple, eventID: "transaction \(transaction.id)", kind: AppleEventProcessor.transactionKind,
      JSON.encode(SignedTransactionBody(signed_transaction: text)), parkedBecause: reason, at: now())
  }

  @Sendable private func setConsent(_ request: Request, _ context: SignedIn) async throws -> Response {
    let body = try await request.json(ConsentBody.self)
    let now = now()
    try await purchases.store.database.write { db in
      try AppleConsentStore.set(body.consented, by: context.user, at: now, on: db)
    }
    return .json(body)
  }

  private func configured() throws -> AppStoreVerifier {
    guard let verifier else { throw Failure.applePurchasesNotConfigured(missing) }
    return verifier
  }
}

/// The body of a transaction that the app has from StoreKit (`VerificationResult.jwsRepresentation`).
struct SignedTransactionBody: Codable, Sendable {
  let signed_transaction: String
}

private struct ConsentBody: Codable {
  let consented: Bool
}

extension GrantedPurchase {
  fileprivate init(_ purchase: PurchaseRecord, balance: Balance) {
    self.init(
      transactionID: purchase.transactionID, productID: purchase.productID, creditsGranted: purchase.credits,
      balance: balance.current)
  }
}

extension Failure {
  static let invalidNotification = Failure(
    .malformed, "invalid_notification", "This is not a notification that the App Store has signed.")
  static let invalidTransaction = Failure(
    .malformed, "invalid_transaction", "This is not a transaction that the App Store has signed for this app.")
  static let unknownProduct = Failure(
    .unprocessable, "unknown_product", "This product is not known to the server yet. The purchase is not lost.")

  static func applePurchasesNotConfigured(_ missing: [String]) -> Failure {
    Failure(
      .unavailable, "apple_purchases_not_configured",
      "Apple purchases are not configured on this server: it lacks \(missing.joined(separator: ", ")).")
  }
}
