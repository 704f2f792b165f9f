import Foundation
import Tokens
import Wire

/// A server-to-server notification of Apple's about a user ("Processing changes for Sign in with Apple accounts").
struct AppleNotification: Sendable, Hashable, Codable {
  enum Kind: String, Codable, Sendable {
    case consentRevoked, accountDeleted, emailDisabled, emailEnabled

    /// nil for a type that this version does not support.
    init?(type: String) {
      switch type {
      case "consent-revoked": self = .consentRevoked
      // Apple's documentation has both.
      case "account-delete", "account-deleted": self = .accountDeleted
      case "email-disabled": self = .emailDisabled
      case "email-enabled": self = .emailEnabled
      default: return nil
      }
    }
  }

  let id: String
  let kind: Kind
  let subject: String
  let happenedAt: Date
}

extension SignInWithApple {
  /// The maximum age of a notification, which is less than the time for which the ids of received ones are stored.
  private static let ageSecondsMax = 5 * 86_400.0

  /// nil for a notification of a kind that this version does not support.
  ///
  /// - Throws: 400 `invalid_apple_notice`; 503 when Apple's keys have not been reached yet, or no bundle id is
  ///   configured.
  func notification(in payload: String, at now: Date) async throws -> AppleNotification? {
    do {
      let claims = try await claims(NotificationClaims.self, of: payload, at: now)
      let issuedAt = Date(timeIntervalSince1970: Double(claims.iat))
      guard issuedAt > now - Self.ageSecondsMax, (1...255).contains(claims.jti.utf8.count) else {
        throw TokenRejected.expired
      }
      guard let kind = AppleNotification.Kind(type: claims.event.type) else { return nil }
      return AppleNotification(
        id: claims.jti, kind: kind, subject: claims.sub, happenedAt: min(claims.event.time ?? issuedAt, now))
    } catch is TokenRejected {
      throw Failure.invalidAppleNotification
    }
  }
}

private struct NotificationClaims: AppleClaims {
  let iss: String
  let aud: String
  let iat: Int
  let expires: Int?
  let jti: String
  let event: Event

  var sub: String { event.sub }

  struct Event: Decodable {
    let type: String
    let sub: String
    private let event_time: Int?

    /// Apple sends milliseconds, although its documentation says seconds.
    var time: Date? {
      event_time.map { Date(timeIntervalSince1970: $0 > 100_000_000_000 ? Double($0) / 1000 : Double($0)) }
    }
  }

  private enum Key: String, CodingKey { case iss, aud, iat, exp, jti, events }

  init(from decoder: any Decoder) throws {
    let claims = try decoder.container(keyedBy: Key.self)
    iss = try claims.decode(String.self, forKey: .iss)
    aud = try claims.decode(String.self, forKey: .aud)
    iat = try claims.decode(Int.self, forKey: .iat)
    expires = try claims.decodeIfPresent(Int.self, forKey: .exp)
    jti = try claims.decode(String.self, forKey: .jti)
    // `try?`: if it is not a string with JSON it must be an object.
    if let text = try? claims.decode(String.self, forKey: .events) {
      event = try JSON.decode(Event.self, from: Data(text.utf8))
    } else {
      event = try claims.decode(Event.self, forKey: .events)
    }
  }
}

extension Failure {
  static let invalidAppleNotification = Failure(
    .malformed, "invalid_apple_notice", "This is not a notice that Apple has signed for this server.")
}
