import Foundation

/// Live channels: what happens while the app is open, in order, each once, also over a lost connection.
public struct Events: Sendable {
  let api: API

  /// - Parameters:
  ///   - topics: such as `lists:42`, `social_groups:{id}` or `users:{id}`.
  ///   - position: where an earlier subscription to the same topics has stopped.
  /// - Returns: updates with the position after each. The subscription connects again by itself, with growing waits,
  ///   until its reader is cancelled, the session ends, or the right to read ends.
  public func updates(
    of topics: [String], from position: EventPosition = EventPosition(), wakingOn wake: AsyncStream<Void>? = nil
  ) -> AsyncThrowingStream<(update: LiveUpdate, position: EventPosition), any Error> {
    AsyncThrowingStream { continuation in
      let subscription = EventSubscription(api: api, topics: topics, position: position, wake: wake)
      let running = Task {
        do {
          try await subscription.run { continuation.yield(($0, $1)) }
          continuation.finish()
        } catch { continuation.finish(throwing: error) }
      }
      continuation.onTermination = { _ in running.cancel() }
    }
  }

  /// Sends a message to who has the topic open now. It is not kept.
  public func broadcast(_ event: String, _ payload: JSONValue, on topic: String) async throws {
    let message: JSONValue = ["topic": .string(topic), "event": .string(event), "payload": payload]
    _ = try await api.send(try .post("/realtime/v1/api/broadcast", ["messages": [message]]))
  }
}
