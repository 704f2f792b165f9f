import AsyncHTTPClient
import Foundation
import Logging
import NIOFoundationCompat
import ServiceLifecycle
import Synchronization
import Tokens
import Web
import Wire

/// What a process other than auth needs to believe access tokens: keys, and the list of ended sessions kept fresh.
package struct Verification: Sendable {
  package let verifier: Verifier
  package let ended = EndedSessionList()
  /// Who comes with a token of somebody else's.
  package let outsiders: Outsiders
  /// What has to run for that.
  package let background: [any Service]

  /// - Throws: ``StartFailure`` for a missing or weak secret.
  package init(in surroundings: Surroundings) throws {
    let keys = try TokenKeys(surroundings.settings, logger: surroundings.logger)
    let published = PublishedKeys(surroundings.neighbours)
    let remote = RemoteKeys(pause: .seconds(1), lifetime: .seconds(60), isPatient: true) {
      try await published.fetch()
    }
    verifier = Verifier(keys.ring, remote: remote)
    let users = UsersClient(in: surroundings)
    let identified = RememberedUsers<OutsideUser.Name>(ended: ended, now: surroundings.now)
    outsiders = try Outsiders(surroundings.settings, logger: surroundings.logger) { user in
      guard let id = try await identified.user(user.name, asking: { try await users.identify(user) }) else {
        throw Failure.unavailable
      }
      return id
    }
    let feed = EndedSessionsFeed(list: ended, in: surroundings) { try await users.endedSessions(since: $0) }
    background = [keys, feed, KeyWatch(keys: remote)]
  }

  /// A key server's document (RFC 7517 §5), at most 256 KB of it.
  package static func keySet(at url: String) async throws -> JWKS {
    let response = try await Outbound.http.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
    guard response.status == .ok else { throw KeysUnavailable() }
    return try JSON.decode(JWKS.self, from: Data(buffer: try await response.body.collect(upTo: 256 * 1024)))
  }
}

/// What auth's replicas publish, all of them together: while they are replaced one by one, some know a key that others do
/// not. One that does not answer counts for a minute as publishing what it did, so that its keys are not taken for
/// withdrawn.
private final class PublishedKeys: Sendable {
  private let neighbours: Neighbours
  private let last = Mutex<[String: (set: JWKS, at: ContinuousClock.Instant)]>([:])
  private static let rememberedFor = Duration.seconds(60)

  init(_ neighbours: Neighbours) { self.neighbours = neighbours }

  /// - Throws: ``KeysUnavailable`` when none answers.
  func fetch() async throws -> JWKS {
    let urls = neighbours.urls(of: .auth)
    let answers = await withTaskGroup(of: (String, JWKS?).self) { group in
      for url in urls {
        // `try?`: who does not answer is not asked for more.
        group.addTask { (url, try? await Verification.keySet(at: url + "/.well-known/jwks.json")) }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    guard !answers.isEmpty else { throw KeysUnavailable() }
    let now = ContinuousClock.now
    return last.withLock { last in
      for (url, set) in answers { last[url] = (set, now) }
      last = last.filter { urls.contains($0.key) && now - $0.value.at < Self.rememberedFor }
      return JWKS(keys: last.values.flatMap(\.set.keys))
    }
  }
}

/// Has a withdrawn key's tokens refused within a second or so.
private struct KeyWatch: Service {
  let keys: RemoteKeys

  func run() async throws { await cancelWhenGracefulShutdown { await keys.watch(every: .seconds(1)) } }
}
