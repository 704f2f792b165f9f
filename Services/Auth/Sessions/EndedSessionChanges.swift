import Clients
import Foundation
import ServiceLifecycle
import Tokens
import Web
import Wire

/// Lets callers of `/internal/sessions/ended` wait until more sessions have ended.
///
/// A version that a caller sends back has a part for each replica that has answered it, so that it can wait at any of
/// them.
struct EndedSessionChanges: Sendable {
  private let signal = ChangeSignal()
  /// Distinguishes the parts of replicas, and of a process that was started again.
  private let process = UUID().uuidString
  private static let replicasMax = 16

  private func part(_ number: Int) -> String { "\(process).\(number)" }

  /// The current version, with the parts that other replicas have in `previous`.
  ///
  /// - Parameter previous: the caller's version.
  func version(after previous: String?) -> String {
    let others = (previous ?? "").split(separator: ",").filter { !$0.hasPrefix("\(process).") && $0.utf8.count <= 64 }
    return ([part(signal.version)] + others.prefix(Self.replicasMax - 1).map(String.init)).joined(separator: ",")
  }

  func isCurrent(_ version: String) -> Bool { number(in: version) == signal.version }

  @Sendable func send() { signal.send() }

  /// Returns at once when `version` is not the current one. A graceful shutdown ends the wait.
  func wait(after version: String, atMost timeout: Duration) async {
    guard let number = number(in: version) else { return }
    await cancelWhenGracefulShutdown { await signal.wait(after: number, atMost: timeout) }
  }

  private func number(in version: String) -> Int? {
    let own = version.split(separator: ",").first { $0.hasPrefix("\(process).") }
    return own.flatMap { Int($0.dropFirst(process.utf8.count + 1)) }
  }
}

extension EndedSessionList {
  /// Whether ``SessionStore/endedFeed(to:in:notifications:onChange:)`` has read not much longer ago than it waits.
  func isRecent(at now: Date) -> Bool { updatedAt.map { now.timeIntervalSince($0) <= 3 } ?? false }
}

extension SessionStore {
  /// Keeps `list` up to date: reads the ended sessions after each transaction of this process. On PostgreSQL other
  /// replicas of auth may have ended sessions: they are read when it notifies of one, every two and a half seconds in
  /// case a notification was lost without a trace, and every second while none can arrive.
  ///
  /// - Parameters:
  ///   - notifications: nil with SQLite.
  ///   - onChange: called when there are new ones, and when they cannot be read.
  func endedFeed(
    to list: EndedSessionList, in dependencies: Dependencies, notifications: EndedSessionNotifications?,
    onChange: @escaping @Sendable () -> Void
  ) -> EndedSessionsFeed {
    let (writes, now) = (dependencies.writes, dependencies.now)
    let alone = dependencies.pollInterval
    let atMost = { @Sendable in
      notifications.map { $0.isListening ? Duration.milliseconds(2500) : .seconds(1) } ?? alone
    }
    return EndedSessionsFeed(
      list: list, in: dependencies, onChange: onChange,
      awaitNext: { update in
        // Bounds how often they are read while many transactions run. `try?`: a cancelled sleep ends the loop.
        try? await Task.sleep(for: .milliseconds(250))
        await writes.wait(after: update.version.flatMap { Int($0) } ?? 0, atMost: atMost())
      },
      fetch: { previous in
        // Read before the sessions, so that a session that ends in between ends the next wait.
        let version = writes.version
        do {
          let ended = try await EndedSessions.all { last in
            try await self.ended(since: previous?.cursor, after: last, limit: EndedSessions.pageMax, at: now())
          }
          return EndedSessions(sessions: ended.sessions, cursor: ended.cursor, version: String(version))
        } catch {
          // Those who wait ask again, at another replica if this one has lost its database.
          onChange()
          throw error
        }
      })
  }
}
