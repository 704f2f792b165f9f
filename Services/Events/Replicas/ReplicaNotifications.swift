import Database
import Logging
import Postgres
import ServiceLifecycle
import Web

/// Receives the notifications of other replicas on PostgreSQL: that events were appended, and what clients tell each
/// other.
struct ReplicaNotifications: Service {
  let url: String
  let changes: ChangeSignal
  let relay: ConversationRelay
  let hub: RealtimeHub
  let logger: Logger

  func run() async throws {
    // Each has less than 8,000 bytes.
    let (messages, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(2000))
    let listener = try NotificationListener(
      url: url, channels: [LogStore.notifications, ConversationRelay.notifications],
      onConnect: { changes.send() },
      onNotification: { [relay] channel, payload in
        guard channel == LogStore.notifications else {
          if case .dropped = continuation.yield(payload) { relay.lost(1) }
          return
        }
        // What this process has appended it has signalled itself.
        if payload != relay.replica { changes.send() }
      })
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
