import Foundation
import Tokens
import Wire

/// Something that Apple tells of a person who has signed in with it ("Processing changes for Sign in with Apple
/// accounts").
struct AppleNotice: Sendable, Hashable, Codable {
  enum Kind: String, Codable, Sendable {
    case consentRevoked, accountDeleted, emailDisabled, emailEnabled

    /// nil for what this version does not know.
    init?(type: String) {
      switch type {
      case "consent-revoked": self = .consentRevoked
      // Apple's documents have it both ways.
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
  /// How old a notice may be: less than the time for which those that came are remembered.
  private static let oldest = 5 * 86_400.0

  /// nil for a notice of a kind that this version does not know.
  ///
  /// - Throws: 400 `invalid_apple_notice`; 503 when Apple's keys have never been reached, or no bundle id is configured.
  func notice(in payload: String, at now: Date) async throws -> AppleNotice? {
    do {
      let claims = try await claims(NoticeClaims.self, of: payload, at: now)
      let issuedAt = Date(timeIntervalSince1970: Double(claims.iat))
      guard issuedAt > now - Self.oldest, (1...255).contains(claims.jti.utf8.count) else { throw TokenRejected.expired }
      guard let kind = AppleNotice.Kind(type: claims.event.type) else { return nil }
      return AppleNotice(
        id: claims.jti, kind: kind, subject: claims.sub, happenedAt: min(claims.event.time ?? issuedAt, now))
    } catch is TokenRejected {
      throw Failure.invalidAppleNotice
    }
  }
}

private struct NoticeClaims: AppleClaims {
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

    /// Apple counts in milliseconds, its documents in seconds.
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
    // `try?`: not JSON within a string means that it must be an object.
    if let text = try? claims.decode(String.self, forKey: .events) {
      event = try JSON.decode(Event.self, from: Data(text.utf8))
    } else {
      event = try claims.decode(Event.self, forKey: .events)
    }
  }
}

extension Failure {
  static let invalidAppleNotice = Failure(
    .malformed, "invalid_apple_notice", "This is not a notice that Apple has signed for this server.")
}
