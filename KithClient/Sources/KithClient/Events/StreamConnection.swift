import Foundation

/// One connection of a subscription by server-sent events.
struct StreamConnection: Sendable {
  /// A comment comes every 15 seconds: a connection that is silent for longer than this is dead.
  private static let silenceSeconds = 45.0
  /// The same when the network has just changed.
  private static let staleLimit = Duration.seconds(20)

  let api: API
  let topics: [String]

  /// Reads until the connection ends.
  ///
  /// - Throws: the failures of a call, ``NoAnswer``, ``SubscriptionEnd``.
  func run(
    _ progress: inout SubscriptionProgress, waking signals: AsyncStream<Void>, _ tell: EventSubscription.Tell
  ) async throws {
    let stream = try await api.stream(call(progress.position))
    let (events, heard) = (stream.events, LastHeard())
    let watch = Task {
      // A connection that was cancelled ends as one that was lost.
      for await _ in signals where heard.age > Self.staleLimit { return events.cancel() }
    }
    defer { watch.cancel() }
    for try await event in events.all {
      heard.now()
      let before = progress.position
      if !event.id.isEmpty { progress.position.move(to: event.id, in: topics) }
      // The first block names the number from which on nothing is missed. Before it, there is no such number.
      if !progress.isConnected {
        progress.connected()
        try tell(.connected, event.data.isEmpty ? progress.position : before)
      }
      if !event.data.isEmpty { try await apply(event, &progress, tell) }
    }
  }

  private func call(_ position: EventPosition) -> Call {
    Call.get("/realtime/v1/events").with {
      $0.query = topics.map { ("topic", $0) }
      $0.headers["Accept"] = "text/event-stream"
      $0.headers["Last-Event-ID"] = position.lastEventID(of: topics)
      $0.timeoutSeconds = Self.silenceSeconds
    }
  }

  private func apply(
    _ event: ServerSentEventParser.Event, _ progress: inout SubscriptionProgress, _ tell: EventSubscription.Tell
  ) async throws {
    let data = Data(event.data.utf8)
    switch event.name {
    case "gap":
      struct Gap: Decodable {
        let topic: String?
        let epoch: String?
      }
      // `try?`: without a topic it concerns all.
      let gap = try? WireCoding.decode(Gap.self, from: data)
      for topic in gap?.topic.map({ [$0] }) ?? topics {
        progress.position.marks[topic]?.epoch = gap?.epoch
        try tell(.gap(topic: topic), progress.position)
      }
    case "system":
      struct End: Decodable { let message: String? }
      // `try?`: the reason is only shown.
      let message = (try? WireCoding.decode(End.self, from: data))?.message ?? ""
      guard case .signedIn = await api.sessions.state else { throw KithFailure.signedOut }
      // A stream ends with its access token or its session; the next request tells which of them it was.
      if case .ended(let reason) = ChannelConversation.outcome(ofEnd: message) {
        throw SubscriptionEnd(reason: reason)
      }
    default:
      let event = try Self.event(event.name, data)
      try tell(.event(event), progress.position)
    }
  }

  private static func event(_ name: String, _ data: Data) throws -> LiveEvent {
    struct Body: Decodable {
      let topic: String
      let seq: Int
      let id: String
      let payload: JSONValue
    }
    let body = try WireCoding.decode(Body.self, from: data)
    return LiveEvent(topic: body.topic, name: name, number: body.seq, id: body.id, payload: body.payload)
  }
}

/// When something was read last.
///
/// `@unchecked Sendable`: `at` is only used under the lock.
private final class LastHeard: @unchecked Sendable {
  private let lock = NSLock()
  private var at = ContinuousClock.now

  var age: Duration { ContinuousClock.now - lock.withLock { at } }

  func now() { lock.withLock { at = .now } }
}
