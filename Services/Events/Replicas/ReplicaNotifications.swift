import Database
import Logging
import Postgres
import ServiceLifecycle
import Web

/// Receives the notifications of other replicas on PostgreSQL: that events were appended, and what clients tell each
/// other.
struct ReplicaNotifications: Service {
  private let relay: ConversationRelay
  private let hub: RealtimeHub
  private let logger: Logger
  private let listener: NotificationListener
  private let messages: AsyncStream<String>

  /// - Parameter changes: sent when another replica has appended events, or may have.
  /// - Throws: ``DatabaseFailure/unusable`` when the URL is not valid.
  init(url: String, changes: ChangeSignal, relay: ConversationRelay, hub: RealtimeHub, logger: Logger) throws {
    self.relay = relay
    self.hub = hub
    self.logger = logger
    // Each has less than 8,000 bytes.
    let (messages, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(2000))
    self.messages = messages
    listener = try NotificationListener(
      url: url, channels: [LogStore.notifications, ConversationRelay.notifications],
      onConnect: changes.send, onDisconnect: changes.send,
      onNotification: { channel, payload in
        guard channel == LogStore.notifications else {
          if case .dropped = continuation.yield(payload) { relay.lost(1) }
          return
        }
        // What this process has appended it has signalled itself.
        if payload != relay.replica { changes.send() }
      })
  }

  /// How long the log may go unread without a signal: a notification can be lost without a trace, with a connection
  /// that no longer carries anything.
  var logPollInterval: Duration { listener.isListening ? .seconds(5) : .seconds(1) }

  func run() async throws {
    listener.start()
    await cancelWhenGracefulShutdown {
      // One after the other, so that their order stays.
      for await text in messages { await deliver(text) }
    }
    listener.stop()
  }

  private func deliver(_ text: String) async {
    do {
      if let message = try await relay.message(of: text) { hub.deliver(message) }
    } catch {
      relay.lost(1)
      logger.warning("a message of another replica was lost", metadata: ["error": "\(error)"])
    }
  }
}
