import Foundation

/// One notification for one device, as it is sent to APNs ("Sending notification requests to APNs").
struct APNsNotification: Sendable {
  /// `apns-push-type`.
  enum PushType: String, Sendable { case alert, background }

  /// `apns-id`, a UUID in lower case. The same in every try, so that APNs drops doubles.
  let id: String
  let deviceToken: String
  let type: PushType
  /// After this time APNs does not deliver it any more.
  let expiresAt: Date
  /// At most 64 bytes. The device shows only the last notification with the same one.
  let collapseID: String?
  /// JSON, at most ``payloadBytesMax``.
  let payload: Data

  static let payloadBytesMax = 4096

  /// `apns-priority`: at once, or for background pushes with regard to power, as APNs demands.
  var priority: Int { type == .background ? 5 : 10 }
}

/// What APNs answered ("Handling notification responses from APNs").
enum APNsResponse: Sendable, Hashable {
  case accepted
  case refused(APNsRefusal)
}

/// An answer other than 200.
struct APNsRefusal: Sendable, Hashable {
  let status: Int
  let reason: String
  /// For 410: since when the token is known to be invalid.
  var timestamp: Date?
  var retryAfterSeconds: Int?
}
