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
  package let feed: EndedSessionsFeed

  /// - Throws: ``StartFailure`` for a missing or weak secret.
  package init(in surroundings: Surroundings) throws {
    let keys = try TokenKeys(surroundings.settings)
    verifier = keys.verifier(
      remote: keys.needsRemote ? RemoteKeys(pause: .seconds(5)) { try await Self.authKeys(surroundings) } : nil)
    let users = UsersClient(in: surroundings)
    feed = EndedSessionsFeed(list: ended, logger: surroundings.logger, now: surroundings.now) {
      try await users.endedSessions(since: $0)
    }
  }

  private static func authKeys(_ surroundings: Surroundings) async throws -> JWKS {
    guard let url = surroundings.neighbours.urls(of: .auth).randomElement() else { throw KeysUnavailable() }
    return try await keySet(at: url + "/.well-known/jwks.json")
  }

  /// A key server's document (RFC 7517 §5), at most 256 KB of it.
  package static func keySet(at url: String) async throws -> JWKS {
    let response = try await Outbound.http.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
    guard response.status == .ok else { throw KeysUnavailable() }
    return try JSON.decode(JWKS.self, from: Data(buffer: try await response.body.collect(upTo: 256 * 1024)))
  }
}

/// Keeps an ``EndedSessionList`` fresh: asks every second, alarms in the log when there was no answer for ten.
package struct EndedSessionsFeed: Service {
  private let list: EndedSessionList
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let fetch: @Sendable (Date?) async throws -> EndedSessions

  package init(
    list: EndedSessionList, logger: Logger, now: @escaping @Sendable () -> Date,
    fetch: @escaping @Sendable (Date?) async throws -> EndedSessions
  ) {
    self.list = list
    self.logger = logger
    self.now = now
    self.fetch = fetch
  }

  package func run() async throws {
    await cancelWhenGracefulShutdown {
      var cursor: Date?
      var heardAt = ContinuousClock.now
      while !Task.isCancelled {
        do {
          let news = try await fetch(cursor)
          list.add(news.sessions, at: now())
          cursor = news.cursor
          heardAt = .now
        } catch  where !Task.isCancelled {
          let silence = ContinuousClock.now - heardAt
          if silence > .seconds(10) {
            logger.error("ended sessions are out of date", metadata: ["seconds": "\(silence.components.seconds)"])
          }
        } catch {}
        // Before the first answer nothing can be served: ask more often. `try?`: cancelled means stop.
        try? await Task.sleep(for: list.isKnown ? .seconds(1) : .milliseconds(20))
      }
    }
  }
}
