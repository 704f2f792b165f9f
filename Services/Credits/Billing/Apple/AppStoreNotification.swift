import Foundation

/// A notification of the App Store (Server Notifications V2, `ResponseBodyV2DecodedPayload`).
struct AppStoreNotification: AppStorePayload, Hashable {
  /// The same when the App Store sends the notification again.
  let id: String
  let type: String
  let subtype: String?
  let signedAt: Date
  let subject: Subject

  /// What it is about, from whichever of its members it has.
  struct Subject: Sendable, Hashable {
    var bundleID: String?
    /// nil in the sandbox.
    var appID: Int?
    var environment: String?
    var signedTransaction: String?
    var signedRenewal: String?
    var status: SubscriptionState.Phase?
    var consumptionRequestReason: String?
  }

  private enum Key: String, CodingKey {
    case notificationUUID, notificationType, subtype, signedDate, data, summary, externalPurchaseToken, appData
  }

  private enum SubjectKey: String, CodingKey {
    case bundleId, appAppleId, environment, signedTransactionInfo, signedRenewalInfo, status, externalPurchaseId
    case consumptionRequestReason
  }

  init(from decoder: any Decoder) throws {
    let payload = try decoder.container(keyedBy: Key.self)
    id = try payload.decode(String.self, forKey: .notificationUUID)
    guard (1...100).contains(id.utf8.count), !id.utf8.contains(0) else {
      throw DecodingError.dataCorruptedError(
        forKey: .notificationUUID, in: payload, debugDescription: "must have 1 to 100 bytes")
    }
    type = try payload.decode(String.self, forKey: .notificationType)
    subtype = try payload.decodeIfPresent(String.self, forKey: .subtype)
    signedAt = try payload.decode(Milliseconds.self, forKey: .signedDate).date
    subject =
      try [.data, .summary, .externalPurchaseToken, .appData].lazy.compactMap { key in
        try payload.contains(key) && !payload.decodeNil(forKey: key)
          ? Self.subject(payload.nestedContainer(keyedBy: SubjectKey.self, forKey: key), of: key) : nil
      }.first ?? Subject()
  }

  private static func subject(_ member: KeyedDecodingContainer<SubjectKey>, of key: Key) throws -> Subject {
    var subject = Subject(
      bundleID: try member.decodeIfPresent(String.self, forKey: .bundleId),
      appID: try member.decodeIfPresent(Int.self, forKey: .appAppleId),
      environment: try member.decodeIfPresent(String.self, forKey: .environment),
      signedTransaction: try member.decodeIfPresent(String.self, forKey: .signedTransactionInfo),
      signedRenewal: try member.decodeIfPresent(String.self, forKey: .signedRenewalInfo),
      status: try member.decodeIfPresent(Int.self, forKey: .status).flatMap(SubscriptionState.Phase.init),
      consumptionRequestReason: try member.decodeIfPresent(String.self, forKey: .consumptionRequestReason))
    if key == .externalPurchaseToken {
      // These have no environment, but an id that says it.
      let isSandbox = try member.decodeIfPresent(String.self, forKey: .externalPurchaseId)?.hasPrefix("SANDBOX") == true
      subject.environment = (isSandbox ? AppStoreEnvironment.sandbox : .production).rawValue
    }
    return subject
  }
}
