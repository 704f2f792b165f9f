import Crypto
import Foundation
import Wire

/// Signs transactions, renewals and notifications as the App Store does.
package struct AppStore: Sendable {
  package static let bundleID = "com.example.kith"
  package static let appID = 1_234_567_890

  package let certificates: AppStoreCertificates
  /// The file of the root certificate.
  package let rootFile: String

  package init(certificates: AppStoreCertificates, rootFile: String) {
    self.certificates = certificates
    self.rootFile = rootFile
  }

  package typealias Payload = [String: any Sendable]

  /// `APPLE_ROOT_CERTIFICATES` and the id of the app.
  package var settings: [String: String] {
    ["APPLE_ROOT_CERTIFICATES": rootFile, "APPLE_APP_STORE_ID": String(Self.appID)]
  }

  package func sign(_ payload: Payload, header: Payload = [:]) throws -> String {
    var head: Payload = ["alg": "ES256", "x5c": try certificates.chain]
    for (name, value) in header { head[name] = value }
    return try compactJWS(head, payload) { message in
      try certificates.key.signature(for: SHA256.hash(data: message)).rawRepresentation
    }
  }

  /// A notification with what is signed inside of it.
  ///
  /// - Parameter data: further members of `data`, such as `status`.
  package func notification(
    _ type: String, _ subtype: String? = nil, about transaction: Payload? = nil, renewal: Payload? = nil,
    data: Payload = [:], id: String = UUID().uuidString.lowercased(), at time: Date
  ) throws -> String {
    var members: Payload = [
      "environment": "Production", "bundleId": Self.bundleID, "appAppleId": Self.appID, "bundleVersion": "1",
    ]
    if let transaction { members["signedTransactionInfo"] = try sign(transaction) }
    if let renewal { members["signedRenewalInfo"] = try sign(renewal) }
    for (name, value) in data { members[name] = value }
    var payload: Payload = [
      "notificationType": type, "notificationUUID": id, "version": "2.0", "signedDate": Self.milliseconds(time),
      "data": members,
    ]
    if let subtype { payload["subtype"] = subtype }
    return try sign(payload)
  }

  package static func milliseconds(_ time: Date) -> Int { Int((time.timeIntervalSince1970 * 1000).rounded()) }

  /// A transaction of the app.
  ///
  /// - Parameters:
  ///   - original: the first transaction of a subscription; nil for a purchase by itself.
  ///   - changes: members that are added or replaced; nil removes one.
  package static func transaction(
    _ id: String, original: String? = nil, product: String, for account: UserID?, quantity: Int = 1,
    from start: Date, to end: Date? = nil, signedAt: Date? = nil, changing changes: [String: (any Sendable)?] = [:]
  ) -> Payload {
    var payload: Payload = [
      "transactionId": id, "originalTransactionId": original ?? id, "bundleId": bundleID, "productId": product,
      "purchaseDate": milliseconds(start), "originalPurchaseDate": milliseconds(start), "quantity": quantity,
      "type": end == nil ? "Consumable" : "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED",
      "signedDate": milliseconds(signedAt ?? start), "environment": "Production", "storefront": "NOR",
      "storefrontId": "143457", "transactionReason": "PURCHASE", "price": 990, "currency": "NOK",
    ]
    if let account { payload["appAccountToken"] = account.description }
    if let end { payload["expiresDate"] = milliseconds(end) }
    for (name, value) in changes { payload[name] = value }
    return payload
  }

  /// What the App Store says about the renewal of a subscription.
  package static func renewal(
    _ original: String, product: String, willRenew: Bool = true, at time: Date,
    changing changes: [String: (any Sendable)?] = [:]
  ) -> Payload {
    var payload: Payload = [
      "originalTransactionId": original, "productId": product, "autoRenewProductId": product,
      "autoRenewStatus": willRenew ? 1 : 0, "signedDate": milliseconds(time), "environment": "Production",
      "recentSubscriptionStartDate": milliseconds(time),
    ]
    for (name, value) in changes { payload[name] = value }
    return payload
  }
}

/// Runs `body` with an App Store that has certificates of its own.
package func withAppStore<T>(
  _ defects: AppStoreCertificates.Defects = .init(), _ body: (AppStore) async throws -> T
) async throws -> T {
  let folder = FileManager.default.temporaryDirectory.appending(path: "kith-app-store-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  // `try?`: a leftover folder does no harm.
  defer { try? FileManager.default.removeItem(at: folder) }
  let certificates = try AppStoreCertificates(defects)
  let file = folder.appending(path: "root.pem")
  try Data(certificates.rootPEM.utf8).write(to: file)
  return try await body(AppStore(certificates: certificates, rootFile: file.path))
}
