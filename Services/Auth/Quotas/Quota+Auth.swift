import Quotas

extension Quota {
  /// Wrong passwords from one place for one account.
  static let passwordFromHere = Quota(name: "password here", limit: 10, window: .seconds(900))
  /// Wrong passwords for one account from places that its user has never signed in from: a stranger who tries many places
  /// is stopped, the user at home is not.
  static let passwordFromStrangers = Quota(name: "password strangers", limit: 50, window: .seconds(3600))
  static let mailsToAddress = Quota(name: "mail to", limit: 5, window: .seconds(3600))
  static let mailsFromHere = Quota(name: "mail here", limit: 30, window: .seconds(3600))
  static let codeTriesFromHere = Quota(name: "codes here", limit: 60, window: .seconds(3600))
}
