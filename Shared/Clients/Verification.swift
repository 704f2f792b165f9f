import AsyncHTTPClient
import Foundation
import Logging
import NIOFoundationCompat
import ServiceLifecycle
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
    let remote = RemoteKeys(pause: .seconds(1), lifetime: .seconds(60), isPatient: true) {
      try await Self.authKeys(surroundings)
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
    background = [keys, feed]
  }

  /// What any of auth's replicas publishes: while they are replaced one by one, some know a key that others do not.
  private static func authKeys(_ surroundings: Surroundings) async throws -> JWKS {
    let urls = surroundings.neighbours.urls(of: .auth)
    return try await withThrowingTaskGroup(of: Result<JWKS, any Error>.self) { group in
      for url in urls {
        group.addTask {
          do { return .success(try await keySet(at: url + "/.well-known/jwks.json")) } catch { return .failure(error) }
        }
      }
      let answers = try await group.reduce(into: []) { $0.append($1) }
      // `try?`: who does not answer is not asked for more.
      let sets = answers.compactMap { try? $0.get() }
      guard !sets.isEmpty else { throw KeysUnavailable() }
      return JWKS(keys: sets.flatMap(\.keys))
    }
  }

  /// A key server's document (RFC 7517 §5), at most 256 KB of it.
  package static func keySet(at url: String) async throws -> JWKS {
    let response = try await Outbound.http.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
    guard response.status == .ok else { throw KeysUnavailable() }
    return try JSON.decode(JWKS.self, from: Data(buffer: try await response.body.collect(upTo: 256 * 1024)))
  }
}
