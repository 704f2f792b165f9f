import Wire

/// How often something may be done within a time that begins with the first.
struct Quota: Sendable {
  let name: String
  let limit: Int
  let window: Duration

  /// Texts cost money, and a stranger's phone rings: three an hour to a number, fewer than a script wants from an address.
  static func texts(_ settings: TextQuotas) -> [Quota] {
    [settings.perNumber, settings.perAddress, settings.perPrefix, settings.inAll]
  }

  /// Wrong passwords from one place for one account.
  static let passwordFromHere = Quota(name: "password here", limit: 10, window: .seconds(900))
  /// Wrong passwords for one account from places that its user has never signed in from: a stranger who tries many places
  /// is stopped, the user at home is not.
  static let passwordFromStrangers = Quota(name: "password strangers", limit: 50, window: .seconds(3600))
  static let mailsToAddress = Quota(name: "mail to", limit: 5, window: .seconds(3600))
  static let mailsFromHere = Quota(name: "mail here", limit: 30, window: .seconds(3600))
  static let codeTriesFromHere = Quota(name: "codes here", limit: 60, window: .seconds(3600))
}

/// What may be spent on text messages, by the settings of the same names.
struct TextQuotas: Sendable {
  let perNumber: Quota
  let perAddress: Quota
  let perPrefix: Quota
  let inAll: Quota
}

extension Failure {
  /// - Parameter seconds: when the first try of the window is forgotten.
  static func limited(retryAfterSeconds seconds: Int) -> Failure {
    Failure(
      .limited, "rate_limited", "Too many requests. Please try again later.", retryAfterSeconds: max(1, seconds))
  }
}
