/// The reasons of APNs' refusals ("Handling notification responses from APNs"), by what is to be done.
enum APNsReasons {
  /// The token is not valid for this app any more, and never will be.
  static let tokenGone: Set = ["BadDeviceToken", "DeviceTokenNotForTopic", "Unregistered", "ExpiredToken"]

  /// Every request would be refused until somebody changes the configuration.
  static let misconfigured: Set = [
    "InvalidProviderToken", "MissingProviderToken", "BadCertificate", "BadCertificateEnvironment", "Forbidden",
    "BadEnvironmentKeyIdInToken", "UnrelatedKeyIdInToken",
  ]

  /// The connection is of no use any more; another one is.
  static let connectionEnded: Set = ["IdleTimeout", "Shutdown", "ServiceUnavailable"]

  static let badRequest: Set = [
    "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic", "DuplicateHeaders",
    "InvalidPushType", "MissingDeviceToken", "MissingTopic", "PayloadEmpty", "TopicDisallowed", "BadPath",
    "MethodNotAllowed", "PayloadTooLarge",
  ]

  static let known =
    tokenGone.union(misconfigured).union(connectionEnded).union(badRequest).union([
      "ExpiredProviderToken", "TooManyProviderTokenUpdates", "TooManyRequests", "InternalServerError",
    ])
}
