import Clients
import Foundation
import NIOHTTP1
import Tokens
import Web
import Wire

/// Decides who is calling, and remembers verdicts. One for each event loop, used on that loop only.
final class Bearer {
  enum Verdict {
    case known(Forwarding.Assertion)
    case refused(Failure)
    /// Somebody else has to be asked: a key server, or auth.
    case ask(@Sendable () async -> Result<Forwarding.Assertion, Failure>)
  }

  private let verification: Verification
  private let keys: ServiceKeys
  private let users: UsersClient
  private let now: @Sendable () -> Date
  /// Two generations bound the memory: when the young one is full, the old one goes.
  private var young: [String: AccessToken] = [:]
  private var old: [String: AccessToken] = [:]
  private static let generationMax = 4096

  init(_ verification: Verification, keys: ServiceKeys, users: UsersClient, now: @escaping @Sendable () -> Date) {
    self.verification = verification
    self.keys = keys
    self.users = users
    self.now = now
  }

  func verdict(on head: HTTPRequestHead, for bearer: Route.Bearer) -> Verdict {
    switch bearer {
    case .none: return .known(.init())
    case .service: return service(head)
    case .optional, .required:
      if let token = Self.token(head.headers) { return verdict(on: token) }
      if head.headers.contains(name: "authorization") { return .refused(.invalidToken) }
      if let acting = acting(head) { return acting }
      return bearer == .required ? .refused(.unauthorized) : .known(.init())
    }
  }

  private func verdict(on token: String) -> Verdict {
    if let remembered = remembered(token) { return judged(remembered) }
    do {
      let believed = try verification.verifier.verifyNow(token, at: now())
      remember(believed, for: token)
      return judged(believed)
    } catch {
      guard error == .unknownKey, verification.verifier.hasRemoteKeys else { return .refused(Self.failure(error)) }
      return .ask { [verification, now] in await Self.askKeyServer(token, verification, now()) }
    }
  }

  private static func askKeyServer(
    _ token: String, _ verification: Verification, _ now: Date
  ) async -> Result<Forwarding.Assertion, Failure> {
    do {
      let believed = try await verification.verifier.verify(token, at: now)
      guard !verification.ended.contains(believed.session) else { return .failure(.sessionEnded) }
      return .success(.init(user: believed.user, session: believed.session))
    } catch let rejected as TokenRejected {
      return .failure(failure(rejected))
    } catch {
      return .failure(.unavailable)
    }
  }

  private func judged(_ token: AccessToken) -> Verdict {
    guard !verification.ended.contains(token.session) else { return .refused(.sessionEnded) }
    return .known(.init(user: token.user, session: token.session))
  }

  /// An outside system that shows its key.
  private func service(_ head: HTTPRequestHead) -> Verdict {
    guard !keys.isEmpty else { return .refused(.serviceKeysUnset) }
    guard let service = presented(head) else { return .refused(.wrongServiceKey) }
    return .known(.init(service: service.name))
  }

  /// An outside system that acts as a user; nil when there is no valid key or no user is named.
  private func acting(_ head: HTTPRequestHead) -> Verdict? {
    guard let name = head.headers.first(name: Header.userID), let service = presented(head) else { return nil }
    guard service.mayAssertUsers else { return .refused(.mayNotAct) }
    return .ask { [users] in
      do {
        guard let user = try await users.user(knownAs: name) else { return .failure(.userNotFound) }
        return .success(.init(user: user, service: service.name))
      } catch {
        return .failure(error as? Failure ?? .unavailable)
      }
    }
  }

  private func presented(_ head: HTTPRequestHead) -> CallingService? {
    head.headers.first(name: Header.serviceKey).flatMap { keys.service(presenting: $0) }
  }

  /// RFC 6750 §2.1. More than one `Authorization` is none.
  private static func token(_ headers: HTTPHeaders) -> String? {
    let values = headers["authorization"]
    guard values.count == 1, values[0].utf8.count > 7, values[0].prefix(7).lowercased() == "bearer " else { return nil }
    return String(values[0].dropFirst(7))
  }

  private static func failure(_ rejected: TokenRejected) -> Failure {
    rejected == .expired ? .expiredToken : .invalidToken
  }

  private func remembered(_ token: String) -> AccessToken? {
    if let found = young[token] { return found.expiresAt > now() ? found : nil }
    guard let found = old.removeValue(forKey: token), found.expiresAt > now() else { return nil }
    remember(found, for: token)
    return found
  }

  private func remember(_ believed: AccessToken, for token: String) {
    if young.count >= Self.generationMax {
      old = young
      young.removeAll(keepingCapacity: true)
    }
    young[token] = believed
  }
}

extension Failure {
  static let mayNotAct = Failure(.forbidden, "may_not_act", "This service key may not act as a user.")
}
