import AsyncHTTPClient
import Foundation
import Logging
import NIOFoundationCompat
import ServiceLifecycle
import Synchronization
import Tokens
import Web
import Wire

/// What a process other than auth needs to verify tokens: keys, and an up-to-date list of ended sessions.
package struct TokenVerification: Sendable {
  package let verifier: AccessTokenVerifier
  package let ended: EndedSessionList
  /// The users of tokens from external issuers.
  package let externalIdentities: ExternalIdentities
  /// The services that keep keys and ended sessions up to date.
  package let background: [any Service]

  /// - Throws: ``StartFailure`` for a missing or weak secret, and for a wrong entry of `OIDC_ISSUERS`.
  package init(in dependencies: Dependencies) throws {
    let keys = try TokenKeys(dependencies.settings, logger: dependencies.logger)
    let published = PublishedJWKS(dependencies.serviceAddresses)
    let remote = RemoteJWKS(refetchInterval: .seconds(1), lifetime: .seconds(60), waitsForUnknownKeys: true) {
      try await published.fetch()
    }
    verifier = AccessTokenVerifier(keys.ring, remote: remote)
    ended = dependencies.endedSessions ?? EndedSessionList()
    ended.addAge(to: dependencies)
    let users = UsersClient(in: dependencies)
    let cache = UserCache<ExternalUser.Identity>(ended: ended, now: dependencies.now)
    externalIdentities = try ExternalIdentities(dependencies.settings, logger: dependencies.logger) { user in
      guard let id = try await cache.user(user.identity, fetch: { try await users.identify(user) }) else {
        throw Failure.unavailable
      }
      return id
    }
    let feed = EndedSessionsFeed(list: ended, in: dependencies) { try await users.endedSessions(since: $0) }
    // In auth's own process the list is auth's.
    let feeds: [any Service] = dependencies.endedSessions == nil ? [feed] : []
    background = [keys, JWKSRefresh(keys: remote)] + feeds
  }

  /// The authenticator of a service, which looks up users at auth.
  package func authenticator(
    _ keys: ServiceKeys, users: UsersClient, now: @escaping @Sendable () -> Date
  ) -> CallerAuthenticator {
    CallerAuthenticator(
      keys: keys, verifier: verifier, ended: ended, now: now, externalUser: externalIdentities.user
    ) { try await users.user(withAnyID: $0) }
  }

  /// Fetches a key set (RFC 7517 §5) of at most 256 KB.
  ///
  /// - Throws: ``KeysUnavailable`` for a status other than 200, and network and decoding errors.
  package static func keySet(at url: String) async throws -> JWKS {
    let response = try await OutboundHTTP.client.execute(HTTPClientRequest(toProcessAt: url), timeout: .seconds(5))
    guard response.status == .ok else { throw KeysUnavailable() }
    return try JSON.decode(JWKS.self, from: Data(buffer: try await response.body.collect(upTo: 256 * 1024)))
  }
}

/// The union of the key sets that auth's replicas publish: while they are replaced one by one, some have a key that
/// others do not. The last set of a replica that does not answer is used for a minute, so that its keys are not taken
/// for removed.
private final class PublishedJWKS: Sendable {
  private let serviceAddresses: ServiceAddresses
  private let sets = Mutex<[String: (set: JWKS, fetchedAt: ContinuousClock.Instant)]>([:])
  private static let retention = Duration.seconds(60)

  init(_ serviceAddresses: ServiceAddresses) { self.serviceAddresses = serviceAddresses }

  /// - Throws: ``KeysUnavailable`` when no replica answers.
  func fetch() async throws -> JWKS {
    let urls = serviceAddresses.urls(of: .auth)
    let fetched = await withTaskGroup(of: (String, JWKS?).self) { group in
      for url in urls {
        // `try?`: a replica that does not answer has no new set.
        group.addTask { (url, try? await TokenVerification.keySet(at: url + "/.well-known/jwks.json")) }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    guard !fetched.isEmpty else { throw KeysUnavailable() }
    let now = ContinuousClock.now
    return sets.withLock { sets in
      for (url, set) in fetched { sets[url] = (set, now) }
      sets = sets.filter { urls.contains($0.key) && now - $0.value.fetchedAt < Self.retention }
      return JWKS(keys: sets.values.flatMap(\.set.keys))
    }
  }
}

/// Fetches auth's key set every second while it has keys, so that tokens of a removed key are rejected within about a second.
private struct JWKSRefresh: Service {
  let keys: RemoteJWKS

  func run() async throws { await cancelWhenGracefulShutdown { await keys.refresh(every: .seconds(1)) } }
}
