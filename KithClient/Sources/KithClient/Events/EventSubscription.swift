import Foundation

/// One subscription by server-sent events, over as many connections as it takes.
struct EventSubscription: Sendable {
  typealias Tell = @Sendable (LiveUpdate, EventPosition) -> Void

  /// A comment comes every 15 seconds: a connection that is silent for longer than this is dead.
  private static let silenceSeconds = 45.0
  let api: API
  let topics: [String]
  let position: EventPosition
  /// The app is in the foreground again, or the network has changed: connect now.
  let wake: AsyncStream<Void>?

  func run(_ tell: Tell) async throws {
    var position = position
    var failures = 0
    while true {
      do {
        let stream = try await api.stream(call(position))
        if try await read(stream, &position, &failures, tell) { return }
      } catch KithFailure.unreachable {} catch is NoAnswer {} catch let KithFailure.refused(refusal)
        where refusal.status == 429 || refusal.status >= 500
      {}
      try Task.checkCancellation()
      tell(.disconnected, position)
      failures += 1
      try await pause(failures)
    }
  }

  private func call(_ position: EventPosition) -> Call {
    Call.get("/realtime/v1/events").with {
      $0.query = topics.map { ("topic", $0) }
      $0.headers["Accept"] = "text/event-stream"
      $0.headers["Last-Event-ID"] = position.lastEventID
      $0.timeoutSeconds = Self.silenceSeconds
    }
  }

  /// - Returns: whether the subscription has ended.
  private func read(
    _ stream: HTTPStream, _ position: inout EventPosition, _ failures: inout Int, _ tell: Tell
  ) async throws -> Bool {
    var isConnected = false
    for try await event in stream.events {
      if !event.id.isEmpty { position.lastEventID = event.id }
      // The first block names the number from which on nothing is missed. Before it, there is no such number.
      if !isConnected {
        isConnected = true
        failures = 0
        tell(.connected, position)
      }
      guard !event.data.isEmpty else { continue }
      let data = Data(event.data.utf8)
      switch event.name {
      case "gap":
        struct Gap: Decodable { let topic: String? }
        // `try?`: without a topic it concerns all.
        let topic = (try? WireCoding.decode(Gap.self, from: data))?.topic
        for topic in topic.map({ [$0] }) ?? topics { tell(.gap(topic: topic), position) }
      case "system":
        struct End: Decodable { let message: String? }
        // `try?`: the reason is only shown.
        let message = (try? WireCoding.decode(End.self, from: data))?.message ?? ""
        guard try await isSignedIn() else { throw KithFailure.signedOut }
        // A stream ends with its access token or its session; the next request tells which of them it was.
        if ["token", "session"].contains(where: message.localizedCaseInsensitiveContains) { return false }
        tell(.ended(reason: message), position)
        return true
      default: tell(.event(try Self.event(event.name, data)), position)
      }
    }
    return false
  }

  private func isSignedIn() async throws -> Bool {
    if case .signedIn = await api.sessions.state { true } else { false }
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

  /// Waits as the policy says, or until the app wakes up.
  private func pause(_ failures: Int) async throws {
    let policy = api.exchanger.policy
    let wait = policy.backoff(failures)
    guard let wake else { return try await policy.sleep(wait) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await policy.sleep(wait) }
      group.addTask { for await _ in wake { return } }
      try await group.next()
      group.cancelAll()
    }
  }
}
