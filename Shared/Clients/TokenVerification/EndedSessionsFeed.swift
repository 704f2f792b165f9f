import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Tokens
import Web
import Wire

/// Keeps an ``EndedSessionList`` up to date by polling auth every second. Without an answer the last list stays; after
/// ten seconds an error is logged, and again every minute. After the start the first error comes after a minute, as
/// processes start in any order and this one is not ready before it has the first list.
package struct EndedSessionsFeed: Service {
  private let list: EndedSessionList
  private let lastUpdate: LastUpdate
  private let errorAfter: Duration
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let fetch: @Sendable (Date?) async throws -> EndedSessions

  package init(
    list: EndedSessionList, in dependencies: Dependencies, errorAfter: Duration = .seconds(10),
    fetch: @escaping @Sendable (Date?) async throws -> EndedSessions
  ) {
    self.list = list
    self.lastUpdate = LastUpdate(in: dependencies)
    self.errorAfter = errorAfter
    self.logger = dependencies.logger
    self.now = dependencies.now
    self.fetch = fetch
  }

  package func run() async throws {
    await cancelWhenGracefulShutdown {
      var cursor: Date?
      var errorAt = ContinuousClock.now + errorAfter * 6
      while !Task.isCancelled {
        do {
          let update = try await fetch(cursor)
          list.add(update.sessions, at: now())
          cursor = update.cursor
          errorAt = lastUpdate.reset() + errorAfter
        } catch {
          if ContinuousClock.now >= errorAt, !Task.isCancelled {
            logger.error(
              "ended sessions are out of date", metadata: ["seconds": "\(lastUpdate.age.components.seconds)"])
            errorAt = .now + errorAfter * 6
          }
        }
        // Poll more often before the first list, as nothing can be served without it. `try?`: a cancelled sleep ends
        // the loop.
        try? await Task.sleep(for: list.isLoaded ? .seconds(1) : .milliseconds(20))
      }
    }
  }
}

/// The time of the last update, and its age as a metric.
private final class LastUpdate: Sendable {
  private let at = Mutex(ContinuousClock.now)

  init(in dependencies: Dependencies) {
    dependencies.registry.gauge(
      "kith_ended_sessions_age_seconds", "Time since auth last told which sessions have ended."
    ) { [weak self] in
      guard let age = self?.age else { return [] }
      return [([], Double(age.components.seconds))]
    }
  }

  var age: Duration { ContinuousClock.now - at.withLock { $0 } }

  /// Sets the time to now and returns it.
  func reset() -> ContinuousClock.Instant {
    at.withLock { at in
      at = .now
      return at
    }
  }
}
