import Foundation
import Synchronization
import Tokens

/// The tokens with which this process proves to APNs for which team it sends ("Establishing a token-based connection").
/// APNs refuses tokens that are older than an hour, and a team whose tokens change more often than every 20 minutes.
///
/// All processes change at the same times, every 40 minutes, so that APNs sees the same age of all of them.
final class ProviderToken: Sendable {
  struct Issued: Sendable, Hashable {
    let text: String
    let issuedAt: Int
  }

  private struct Claims: Encodable {
    let iss: String
    let iat: Int
  }

  static let lifetimeSeconds = 40 * 60
  static let lifetimeSecondsMin = 20 * 60

  private let team: String
  private let key: SigningKey
  private let issued = Mutex<Issued?>(nil)

  init(team: String, key: SigningKey) {
    self.team = team
    self.key = key
  }

  /// The token to send at this time.
  func current(at now: Date) throws -> Issued {
    let seconds = Int(now.timeIntervalSince1970)
    let due = seconds - seconds % Self.lifetimeSeconds
    return try issued.withLock { issued in
      if let issued, issued.issuedAt >= due || seconds - issued.issuedAt < Self.lifetimeSecondsMin { return issued }
      return try sign(at: due, &issued)
    }
  }

  /// Replaces a token that APNs takes for expired, as its clock or ours is wrong.
  ///
  /// - Returns: false when the token is too young to be replaced.
  func replace(_ expired: Issued, at now: Date) throws -> Bool {
    let seconds = Int(now.timeIntervalSince1970)
    return try issued.withLock { issued in
      guard issued == expired else { return true }
      guard seconds - expired.issuedAt >= Self.lifetimeSecondsMin else { return false }
      _ = try sign(at: seconds, &issued)
      return true
    }
  }

  private func sign(at seconds: Int, _ issued: inout Issued?) throws -> Issued {
    let token = Issued(text: try SignedToken.sign(Claims(iss: team, iat: seconds), with: key), issuedAt: seconds)
    issued = token
    return token
  }
}
