import Clients
import Foundation
import StrictHTTP
import Tokens
import Web
import Wire

/// Authenticates the caller of a request and caches verified tokens. One for each event loop, used on that loop only.
final class Authenticator {
  enum Decision {
    case authenticated(Caller)
    case rejected(Failure)
    /// The token was not verified: the sender's address has used up its quota of rejected credentials.
    case rateLimited(LimitVerdict)
    /// A key server or auth has to be queried first. A success is to be passed to ``Authenticator/cache(_:)``.
    case pending(@Sendable () async -> Result<VerifiedCaller, Failure>)
  }

  /// A caller that a ``Decision/pending(_:)`` decision verified.
  struct VerifiedCaller: Sendable {
    let caller: Caller
    /// What to cache: only tokens of external issuers.
    fileprivate var external: (token: String, user: ExternalIdentities.VerifiedUser)?
  }

  private let verification: TokenVerification
  private let keys: ServiceKeys
  private let users: UsersClient
  private let now: @Sendable () -> Date
  private var tokens = TokenCache(keyVersion: 0)

  init(_ verification: TokenVerification, keys: ServiceKeys, users: UsersClient, now: @escaping @Sendable () -> Date) {
    self.verification = verification
    self.keys = keys
    self.users = users
    self.now = now
  }

  /// - Parameter refusal: why tokens of the sender are not verified, if so. Evaluated before anything expensive:
  ///   verifying a signature takes as long as serving many requests.
  func decision(
    on head: RequestHead, _ bytes: Span<UInt8>, for policy: Route.BearerPolicy, unless refusal: () -> LimitVerdict?
  ) -> Decision {
    switch policy {
    case .none: return .authenticated(.anonymous)
    case .serviceKey: return serviceDecision(head, bytes)
    case .optional, .required:
      if let field = head.fields.first(.authorization) {
        guard let token = Self.bearerToken(bytes, field.value) else { return .rejected(.invalidToken) }
        return tokenDecision(token, bytes, unless: refusal)
      }
      if let decision = actingServiceDecision(head, bytes) { return decision }
      return policy == .required ? .rejected(.unauthorized) : .authenticated(.anonymous)
    case .ifValid:
      guard head.fields.first(.authorization) != nil else { return .authenticated(.anonymous) }
      return Self.anonymousIfRejected(decision(on: head, bytes, for: .optional, unless: refusal))
    }
  }

  /// Replaces a rejection by the anonymous caller.
  private static func anonymousIfRejected(_ decision: Decision) -> Decision {
    switch decision {
    case .authenticated: return decision
    case .rejected, .rateLimited: return .authenticated(.anonymous)
    case .pending(let verify):
      return .pending {
        let result = await verify()
        guard case .failure(let failure) = result, failure.kind == .unauthorized else { return result }
        return .success(VerifiedCaller(caller: .anonymous))
      }
    }
  }

  private func tokenDecision(
    _ token: Range<Int>, _ bytes: Span<UInt8>, unless refusal: () -> LimitVerdict?
  ) -> Decision {
    let now = now()
    if tokens.keyVersion != verification.verifier.version {
      tokens = TokenCache(keyVersion: verification.verifier.version)
    }
    if let entry = tokens.find(token, bytes, at: now), let decision = decision(for: entry) { return decision }
    if let refusal = refusal() { return .rateLimited(refusal) }
    let text = Self.text(bytes, token)
    do {
      if let accessToken = try verification.verifier.verifyLocally(text, at: now) {
        return decision(for: tokens.insert(accessToken, for: text)) ?? .rejected(.sessionEnded)
      }
      if let decision = externalDecision(text, now) { return decision }
      return .pending { [verification] in await Self.verifyWithKeyServer(text, verification, now) }
    } catch {
      // The keys of external issuers are unknown here, and their tokens may have types that ours never have.
      let mayBeExternal = error == .unknownKey || error == .malformed
      let rejected = Decision.rejected(Self.failure(error))
      return mayBeExternal ? externalDecision(text, now) ?? rejected : rejected
    }
  }

  /// nil when no configured issuer has issued the token.
  private func externalDecision(_ token: String, _ now: Date) -> Decision? {
    guard verification.externalIdentities.hasIssuer(of: token) else { return nil }
    return .pending { [verification] in
      do {
        let user = try await verification.externalIdentities.verify(token, at: now)
        return .success(VerifiedCaller(caller: Caller(user: user.user), external: (token, user)))
      } catch let rejected as TokenRejected {
        return .failure(Self.failure(rejected))
      } catch {
        return .failure(error as? Failure ?? .unavailable)
      }
    }
  }

  /// Caches the token of an external issuer with its caller.
  func cache(_ verified: VerifiedCaller) -> Caller {
    if let (token, user) = verified.external { tokens.insert(user, verified.caller, for: token) }
    return verified.caller
  }

  private static func verifyWithKeyServer(
    _ token: String, _ verification: TokenVerification, _ now: Date
  ) async -> Result<VerifiedCaller, Failure> {
    do {
      let accessToken = try await verification.verifier.verify(token, at: now)
      guard !verification.ended.contains(accessToken.session) else { return .failure(.sessionEnded) }
      return .success(VerifiedCaller(caller: Caller(user: accessToken.user, session: accessToken.session)))
    } catch let rejected as TokenRejected {
      return .failure(failure(rejected))
    } catch {
      return .failure(.unavailable)
    }
  }

  /// nil when the cached token has to be verified again.
  private func decision(for entry: TokenCache.Entry) -> Decision? {
    guard !verification.ended.contains(entry.session) else {
      return entry.isAccessToken ? .rejected(.sessionEnded) : nil
    }
    return .authenticated(entry.caller)
  }

  /// For an external system that presents its service key.
  private func serviceDecision(_ head: RequestHead, _ bytes: Span<UInt8>) -> Decision {
    guard !keys.isEmpty else { return .rejected(.serviceKeysUnset) }
    guard let service = callingService(head, bytes) else { return .rejected(.wrongServiceKey) }
    return .authenticated(Caller(service: service.name))
  }

  /// For an external system that acts as a user; nil when there is no valid key or no user is named.
  private func actingServiceDecision(_ head: RequestHead, _ bytes: Span<UInt8>) -> Decision? {
    guard let field = head.fields.first(.userID), let service = callingService(head, bytes) else { return nil }
    guard service.mayAssertUsers else { return .rejected(.mayNotAct) }
    let name = Self.text(bytes, field.value.start..<field.value.end)
    return .pending { [users] in
      do {
        guard let user = try await users.user(withAnyID: name) else { return .failure(.userNotFound) }
        return .success(VerifiedCaller(caller: Caller(user: user, service: service.name)))
      } catch {
        return .failure(error as? Failure ?? .unavailable)
      }
    }
  }

  private func callingService(_ head: RequestHead, _ bytes: Span<UInt8>) -> CallingService? {
    head.fields.first(.serviceKey).flatMap {
      keys.service(presenting: Self.text(bytes, $0.value.start..<$0.value.end))
    }
  }

  /// Whether the caller presents the key of a service or of an external system.
  func hasServiceKey(_ head: RequestHead, _ bytes: Span<UInt8>) -> Bool { callingService(head, bytes) != nil }

  /// Whether the caller presents such a key as a bearer token.
  func hasServiceKeyAsBearer(_ head: RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard let field = head.fields.first(.authorization), let token = Self.bearerToken(bytes, field.value) else {
      return false
    }
    return keys.service(presenting: Self.text(bytes, token)) != nil
  }

  /// RFC 6750 §2.1. Not `Request.bearer` of the services: that reads a header which the server has made a string.
  private static func bearerToken(_ bytes: Span<UInt8>, _ value: HeadSlice) -> Range<Int>? {
    let scheme: [UInt8] = Self.scheme
    guard value.count > scheme.count else { return nil }
    for index in scheme.indices {
      let byte = bytes[value.start + index]
      guard byte == scheme[index] || byte | 0x20 == scheme[index] else { return nil }
    }
    return value.start + scheme.count..<value.end
  }

  private static let scheme = Array("bearer ".utf8)

  private static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
    bytes.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }

  private static func failure(_ rejected: TokenRejected) -> Failure {
    rejected == .expired ? .expiredToken : .invalidToken
  }
}

extension Failure {
  static let mayNotAct = Failure(.forbidden, "may_not_act", "This service key may not act as a user.")
}
