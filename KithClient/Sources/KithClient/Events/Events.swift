import Foundation

/// Live channels: what happens while the app is open, in order, each once, also over a lost connection.
///
/// They come over a WebSocket where the system has one, and by server-sent events else.
public struct Events: Sendable {
  private static let unreadMax = 1000
  let api: API

  /// - Parameters:
  ///   - topics: such as `lists:42`, `social_groups:{id}` or `users:{id}`; at most 100.
  ///   - position: where an earlier subscription to the same topics has stopped.
  ///   - wakeups: when a lost connection is tried again at once. On Apple's systems when the network has changed and
  ///     when the app comes to the foreground.
  /// - Returns: updates with the position after each. The subscription connects again by itself, with growing waits,
  ///   until its reader is cancelled, the session ends, or the right to read ends. It throws ``KithFailure``, such as
  ///   `forbidden` for a topic of others. Safe to repeat: with the last position nothing is missed and nothing comes
  ///   twice. When 1,000 updates wait for their reader, the connection is closed until they were read, and goes on
  ///   after them: with ``LiveUpdate/disconnected`` and ``LiveUpdate/connected``.
  public func updates(
    of topics: [String], from position: EventPosition = EventPosition(), wakingOn wakeups: LiveWakeups = .system
  ) -> AsyncThrowingStream<(update: LiveUpdate, position: EventPosition), any Error> {
    let names = topics.map(EventPosition.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let subscription = EventSubscription(api: api, topics: names, position: position, wakeups: wakeups)
    return BoundedBuffer.stream(countMax: Self.unreadMax) { try await subscription.run(telling: $0) }
  }

  /// Sends a message to who has the topic open now, over a WebSocket. It is not kept, and not repeated when there is no
  /// answer.
  ///
  /// - Throws: ``KithFailure``, such as `forbidden` for who may not read the topic.
  public func broadcast(_ event: String, _ payload: JSONValue, on topic: String) async throws {
    let message: JSONValue = ["topic": .string(topic), "event": .string(event), "payload": payload]
    _ = try await api.send(try Call.post("/realtime/v1/api/broadcast", ["messages": [message]]).once)
  }
}
