import Postgres
import ServiceLifecycle
import Web

/// Hears from PostgreSQL that a session has ended, in whichever replica of auth.
struct EndedSessionNotifications: Service {
  private let listener: NotificationListener

  /// - Parameters:
  ///   - writes: is signalled.
  /// - Throws: ``DatabaseFailure/unusable`` when the URL is not valid.
  init(url: String, signalling writes: ChangeSignal) throws {
    listener = try NotificationListener(
      url: url, channels: [SessionStore.notifications], onConnect: writes.send, onDisconnect: writes.send,
      onNotification: { _, _ in writes.send() })
  }

  var isListening: Bool { listener.isListening }

  func run() async throws {
    listener.start()
    // `try?`: it throws when this task is cancelled, which ends it as well.
    try? await gracefulShutdown()
    listener.stop()
  }
}
