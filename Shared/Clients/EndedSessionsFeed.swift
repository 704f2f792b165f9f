import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Tokens
import Web
import Wire

/// Keeps an ``EndedSessionList`` fresh: asks every second. Without an answer the last list stays; after ten seconds it
/// alarms in the log, and goes on doing so every minute. At the start auth has a minute, as processes are started
/// in any order, and this one is not ready before it has the first list.
package struct EndedSessionsFeed: Service {
  private let list: EndedSessionList
  private let heard: Heard
  private let alarmAfter: Duration
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let fetch: @Sendable (Date?) async throws -> EndedSessions

  package init(
    list: EndedSessionList, in surroundings: Surroundings, alarmAfter: Duration = .seconds(10),
    fetch: @escaping @Sendable (Date?) async throws -> EndedSessions
  ) {
    self.list = list
    self.heard = Heard(in: surroundings)
    self.alarmAfter = alarmAfter
    self.logger = surroundings.logger
    self.now = surroundings.now
    self.fetch = fetch
  }

  package func run() async throws {
    await cancelWhenGracefulShutdown {
      var cursor: Date?
      var alarmAt = ContinuousClock.now + alarmAfter * 6
      while !Task.isCancelled {
        do {
          let news = try await fetch(cursor)
          list.add(news.sessions, at: now())
          cursor = news.cursor
          alarmAt = heard.again() + alarmAfter
        } catch {
          if ContinuousClock.now >= alarmAt, !Task.isCancelled {
            logger.error("ended sessions are out of date", metadata: ["seconds": "\(heard.silence.components.seconds)"])
            alarmAt = .now + alarmAfter * 6
          }
        }
        // Before the first answer nothing can be served: ask more often. `try?`: cancelled means stop.
        try? await Task.sleep(for: list.isKnown ? .seconds(1) : .milliseconds(20))
      }
    }
  }
}

/// When auth was last heard of.
private final class Heard: Sendable {
  private let at = Mutex(ContinuousClock.now)

  init(in surroundings: Surroundings) {
    surroundings.registry.gauge(
      "kith_ended_sessions_age_seconds", "Time since auth last told which sessions have ended."
    ) { [weak self] in
      guard let silence = self?.silence else { return [] }
      return [([], Double(silence.components.seconds))]
    }
  }

  var silence: Duration { ContinuousClock.now - at.withLock { $0 } }

  func again() -> ContinuousClock.Instant {
    at.withLock { at in
      at = .now
      return at
    }
  }
}
