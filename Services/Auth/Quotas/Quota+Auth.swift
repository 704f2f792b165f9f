import Database
import Foundation
import Quotas
import Wire

extension Quota {
  /// Wrong passwords from one client address for one account.
  static let passwordPerClientAddress = Quota(name: "password here", limit: 10, window: .seconds(900))
  /// Wrong passwords for one account from client addresses that its user has never signed in from: guesses from many
  /// addresses are stopped without locking out the user.
  static let passwordFromUnknownAddresses = Quota(name: "password strangers", limit: 50, window: .seconds(3600))
  /// Mails to one address.
  static let mailPerRecipient = Quota(name: "mail to", limit: 5, window: .seconds(3600))
  /// Mails that one client address asks for.
  static let mailPerClientAddress = Quota(name: "mail here", limit: 30, window: .seconds(3600))
  /// Wrong codes and links from one client address.
  static let codePerClientAddress = Quota(name: "codes here", limit: 60, window: .seconds(3600))
  /// Wrong codes from one client address for one e-mail address, so that a stranger there cannot use up a code's tries.
  static let mailedCodePerClientAddress = Quota(name: "mailed code here", limit: 5, window: .seconds(3600))
}

extension QuotaStore {
  /// Counts a try with a code for an e-mail address, before the code is checked.
  ///
  /// - Returns: false when the client address has no tries left: then the code must not be checked.
  func takeCodeAttempt(
    for email: EmailAddress, from clientAddress: String, at now: Date, on db: any Connection
  ) throws -> Bool {
    do {
      try take(.mailedCodePerClientAddress, for: "\(email.canonical) \(clientAddress)", at: now, on: db)
      return true
    } catch let failure as Failure where failure.kind == .limited {
      return false
    }
  }

  /// Gives a try back: the code was right.
  func giveBackCodeAttempt(for email: EmailAddress, from clientAddress: String, on db: any Connection) throws {
    try giveBack(.mailedCodePerClientAddress, for: "\(email.canonical) \(clientAddress)", on: db)
  }
}
