import Foundation
import Logging
import ServiceLifecycle
import Tokens
import Web
import Wire

/// Keeps an ``EndedSessionList`` up to date: fetches what has changed, waits until there may be more, and so on.
///
/// Without an answer the last list stays; after ten seconds of failures an error is logged, and again every minute.
/// After the start the first error comes after a minute, as processes start in any order and this one is not ready
/// before it has the first list.
package struct EndedSessionsFeed: Service {
  private let list: EndedSessionList
  private let errorAfter: Duration
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let onChange: @Sendable () -> Void
  private let awaitNext: @Sendable (EndedSessions) async -> Void
  private let fetch: @Sendable (EndedSessions?) async throws -> EndedSessions

  /// - Parameters:
  ///   - onChange: called when the list has new entries.
  ///   - awaitNext: waits after a result of `fetch` until the next call.
  ///   - fetch: called with its previous result.
  package init(
    list: EndedSessionList, in dependencies: Dependencies, errorAfter: Duration = .seconds(10),
    onChange: @escaping @Sendable () -> Void = {},
    awaitNext: @escaping @Sendable (EndedSessions) async -> Void = Self.pause,
    fetch: @escaping @Sendable (EndedSessions?) async throws -> EndedSessions
  ) {
    self.list = list
    self.errorAfter = errorAfter
    self.logger = dependencies.logger
    self.now = dependencies.now
    self.onChange = onChange
    self.awaitNext = awaitNext
    self.fetch = fetch
  }

  /// A call with a version waits at auth, so the pause only bounds how many are made while sessions keep ending. An
  /// auth that returns no version is polled.
  @Sendable package static func pause(after update: EndedSessions) async {
    // `try?`: a cancelled sleep ends the loop.
    try? await Task.sleep(for: update.version == nil ? .seconds(1) : .milliseconds(500))
  }

  package func run() async throws {
    await cancelWhenGracefulShutdown {
      var previous: EndedSessions?
      // nil while calls succeed.
      var errorAt: ContinuousClock.Instant? = .now + errorAfter * 6
      while !Task.isCancelled {
        do {
          let update = try await fetch(previous)
          if list.add(update.sessions, at: now()) { onChange() }
          previous = EndedSessions(
            sessions: [], cursor: update.cursor, version: update.version, waitSecondsMax: update.waitSecondsMax)
          errorAt = nil
          await awaitNext(update)
        } catch {
          let due = errorAt ?? .now + errorAfter
          errorAt = due
          if ContinuousClock.now >= due, !Task.isCancelled {
            logger.error("ended sessions are out of date", metadata: ["seconds": "\(list.ageSeconds(at: now()) ?? 0)"])
            errorAt = .now + errorAfter * 6
          }
          // The next call does not wait at auth, which may hang. Shorter before the first list, as nothing can be
          // served without it. `try?`: a cancelled sleep ends the loop.
          previous = previous.map { EndedSessions(sessions: [], cursor: $0.cursor) }
          try? await Task.sleep(for: list.isLoaded ? .seconds(1) : .milliseconds(20))
        }
      }
    }
  }
}

extension EndedSessionList {
  /// nil before the first update.
  fileprivate func ageSeconds(at now: Date) -> Int? { updatedAt.map { Int(now.timeIntervalSince($0)) } }

  /// Adds the age of the list to the metrics of a service.
  package func addAge(to dependencies: Dependencies) {
    let startedAt = dependencies.now()
    dependencies.registry.gauge(
      "kith_ended_sessions_age_seconds", "Time since auth last told which sessions have ended."
    ) { [weak self, now = dependencies.now] in
      guard let self else { return [] }
      return [([], max(0, now().timeIntervalSince(updatedAt ?? startedAt).rounded(.down)))]
    }
  }
}
