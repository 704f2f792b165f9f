import Database
import Foundation
import Synchronization

/// Listens for notifications of PostgreSQL (`LISTEN`) on a connection and a thread of its own. While the server is away,
/// or a notification is lost with its connection, nothing is reported: readers also look for themselves.
package final class NotificationListener: Sendable {
  private let url: PostgresURL
  private let channels: [String]
  private let onConnect: @Sendable () -> Void
  private let onDisconnect: @Sendable () -> Void
  private let onNotification: @Sendable (_ channel: String, _ payload: String) -> Void
  private let isStopped = Atomic(false)
  private let hasConnection = Atomic(false)
  private static let pollMilliseconds: Int32 = 500

  /// - Parameters:
  ///   - url: of the server itself, as PgBouncer in transaction mode does not listen.
  ///   - channels: names that need no quotes.
  ///   - onConnect: called whenever a connection listens, as notifications before that are lost.
  ///   - onDisconnect: called when a connection has broken.
  ///   - onNotification: called for one notification after the other, on the thread of this value.
  /// - Throws: ``DatabaseFailure/unusable`` when the URL is not valid.
  package init(
    url: String, channels: [String], onConnect: @escaping @Sendable () -> Void,
    onDisconnect: @escaping @Sendable () -> Void = {},
    onNotification: @escaping @Sendable (_ channel: String, _ payload: String) -> Void
  ) throws {
    self.url = try PostgresURL(url)
    self.channels = channels
    self.onConnect = onConnect
    self.onDisconnect = onDisconnect
    self.onNotification = onNotification
  }

  /// Whether notifications arrive: false while the server is away, and behind PgBouncer in transaction mode.
  package var isListening: Bool { hasConnection.load(ordering: .relaxed) && !url.isPooledByTransaction }

  package func start() {
    let thread = Thread { [self] in run() }
    thread.name = "db-notifications"
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// The thread ends within half a second.
  package func stop() { isStopped.store(true, ordering: .relaxed) }

  private func run() {
    var pause = 0.05
    while !isStopped.load(ordering: .relaxed) {
      do {
        let handle = try ConnectionHandle(url, Postgres.settings("public"))
        try handle.script(channels.map { "listen \($0);" }.joined(separator: " "))
        pause = 0.05
        try report(from: handle)
      } catch {
        Thread.sleep(forTimeInterval: pause * Double.random(in: 0.5...1))
        pause = min(2, pause * 2)
      }
    }
  }

  private func report(from handle: ConnectionHandle) throws {
    hasConnection.store(true, ordering: .relaxed)
    onConnect()
    defer {
      hasConnection.store(false, ordering: .relaxed)
      onDisconnect()
    }
    while !isStopped.load(ordering: .relaxed) {
      for notification in try handle.notifications(waitingMilliseconds: Self.pollMilliseconds) {
        onNotification(notification.channel, notification.payload)
      }
    }
  }
}
