import Database
import Foundation
import Quotas
import Wire

extension Quota {
  /// Wrong passwords from one place for one account.
  static let passwordFromHere = Quota(name: "password here", limit: 10, window: .seconds(900))
  /// Wrong passwords for one account from places that its user has never signed in from: a stranger who tries many places
  /// is stopped, the user at home is not.
  static let passwordFromStrangers = Quota(name: "password strangers", limit: 50, window: .seconds(3600))
  static let mailsToAddress = Quota(name: "mail to", limit: 5, window: .seconds(3600))
  static let mailsFromHere = Quota(name: "mail here", limit: 30, window: .seconds(3600))
  static let codeTriesFromHere = Quota(name: "codes here", limit: 60, window: .seconds(3600))
  /// Wrong codes from one place for one address: of a code's tries a stranger has only these.
  static let mailedCodeFromHere = Quota(name: "mailed code here", limit: 5, window: .seconds(3600))
}

extension QuotaStore {
  /// Counts a code that was typed for an address, before it is looked at.
  ///
  /// - Returns: false when so many wrong ones came from there that it must not be looked at.
  func countCode(for email: EmailAddress, from place: String, at now: Date, on db: any Connection) throws -> Bool {
    do {
      try take(.mailedCodeFromHere, for: "\(email.canonical) \(place)", at: now, on: db)
      return true
    } catch let failure as Failure where failure.kind == .limited {
      return false
    }
  }

  /// The code was right: it does not count.
  func forgiveCode(for email: EmailAddress, from place: String, on db: any Connection) throws {
    try giveBack(.mailedCodeFromHere, for: "\(email.canonical) \(place)", on: db)
  }
}
