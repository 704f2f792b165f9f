/// The client's side of Phoenix channels over one WebSocket: what is sent, and what the server's messages mean. A value
/// without network or clock, so that every exchange can be tested.
struct ChannelConversation: Sendable {
  enum Outcome: Sendable, Equatable {
    case update(LiveUpdate)
    /// The access token has ended, or was refused: connect again with another one.
    case tokenRefused
    /// The user may not read a topic, or there is none of this name.
    case denied(reason: String)
    /// The right to read a topic has ended.
    case ended(reason: String)
    /// Connect again, and go on from the position.
    case lost
  }

  private struct Step {
    let outcome: Outcome
    var topic: String?
    /// Of the topic, after the outcome.
    var mark: EventPosition.Mark?
  }

  private struct Channel {
    let joinRef: String
    var isJoined = false
    /// Why the server is about to close it.
    var reason: String?
  }

  /// After what was returned.
  private(set) var position: EventPosition
  /// After what has come.
  private var received: EventPosition
  private var channels: [String: Channel] = [:]
  /// What came before all channels were joined.
  private var held: [Step] = []
  private var isConnected = false
  private var lastRef = 0
  private var heartbeatRef: String?

  init(from position: EventPosition) {
    self.position = position
    received = position
  }

  // MARK: Sending

  /// Joins the topics, each where its reader has stopped.
  mutating func join(_ topics: [String], token: String) -> [PhoenixMessage] {
    topics.map { topic in
      let ref = nextRef()
      channels[topic] = Channel(joinRef: ref)
      var config: [String: JSONValue] = ["private": true]
      if let mark = position.marks[topic] {
        config["since"] = .int(mark.number)
        config["epoch"] = mark.epoch.map(JSONValue.string)
      }
      return PhoenixMessage(
        joinRef: ref, ref: ref, topic: topic, event: "phx_join",
        payload: ["config": .object(config), "access_token": .string(token)])
    }
  }

  /// - Returns: nil when the last one was not answered: the connection is dead.
  mutating func heartbeat() -> PhoenixMessage? {
    guard heartbeatRef == nil else { return nil }
    let ref = nextRef()
    heartbeatRef = ref
    return PhoenixMessage(ref: ref, topic: "phoenix", event: "heartbeat")
  }

  /// Whether a heartbeat has not been answered yet.
  var isWaiting: Bool { heartbeatRef != nil }

  /// Replaces the access token of every channel. There is no answer when it is accepted.
  func refresh(token: String) -> [PhoenixMessage] {
    channels.sorted { $0.key < $1.key }.map { topic, channel in
      PhoenixMessage(
        joinRef: channel.joinRef, topic: topic, event: "access_token", payload: ["access_token": .string(token)])
    }
  }

  private mutating func nextRef() -> String {
    lastRef += 1
    return String(lastRef)
  }

  // MARK: Receiving

  /// - Returns: each outcome with the position after it.
  mutating func receive(_ message: PhoenixMessage) -> [(outcome: Outcome, position: EventPosition)] {
    steps(after: message).map { step in
      if let topic = step.topic { position.marks[topic] = step.mark }
      return (step.outcome, position)
    }
  }

  private mutating func steps(after message: PhoenixMessage) -> [Step] {
    if message.event == "phx_reply", message.ref != nil, message.ref == heartbeatRef { heartbeatRef = nil }
    // A late message of an earlier join means nothing to this one.
    guard let channel = channels[message.topic], message.joinRef == nil || message.joinRef == channel.joinRef else {
      return []
    }
    switch message.event {
    case "phx_reply" where message.ref == channel.joinRef: return replied(message)
    case "broadcast": return inOrder(broadcast(message), in: message.topic)
    case "system":
      if message.payload["status"]?.string == "error" {
        channels[message.topic]?.reason = message.payload["message"]?.string
      }
      return []
    case "phx_close": return [Step(outcome: Self.outcome(ofEnd: channel.reason))]
    case "phx_error": return [Step(outcome: .lost)]
    default: return []
    }
  }

  private mutating func replied(_ message: PhoenixMessage) -> [Step] {
    let response = message.payload["response"]
    guard message.payload["status"]?.string == "ok" else {
      return [Step(outcome: Self.outcome(ofRefusal: response?["reason"]?.string ?? ""))]
    }
    channels[message.topic]?.isJoined = true
    let epoch = response?["epoch"]?.string
    position.begin(message.topic, at: response?["seq"]?.int, epoch)
    received.begin(message.topic, at: response?["seq"]?.int, epoch)
    guard !isConnected, channels.values.allSatisfy(\.isJoined) else { return [] }
    isConnected = true
    defer { held = [] }
    return [Step(outcome: .update(.connected))] + held
  }

  private static let heldMax = 1000

  private mutating func inOrder(_ outcome: Outcome?, in topic: String) -> [Step] {
    guard let outcome else { return [] }
    let step = Step(outcome: outcome, topic: topic, mark: received.marks[topic])
    guard !isConnected, outcome != .lost else { return [outcome == .lost ? Step(outcome: .lost) : step] }
    if held.count == Self.heldMax { mergeHeld() }
    held.append(step)
    return []
  }

  /// Whoever is told of the connection reads the state, and so needs no more than to be told that something is missing.
  private mutating func mergeHeld() {
    held = Set(held.compactMap(\.topic)).sorted().map { topic in
      Step(outcome: .update(.gap(topic: topic)), topic: topic, mark: received.marks[topic])
    }
  }

  private mutating func broadcast(_ message: PhoenixMessage) -> Outcome? {
    let (topic, content) = (message.topic, message.payload["payload"] ?? .object([:]))
    guard let name = message.payload["event"]?.string else { return nil }
    guard let number = message.payload["meta"]?["seq"]?.int, let id = message.payload["meta"]?["id"]?.string else {
      guard name == "gap" else { return .update(.message(LiveMessage(topic: topic, name: name, payload: content))) }
      received.marks[topic] = .init(number: content["seq"]?.int ?? 0, epoch: content["epoch"]?.string)
      return .update(.gap(topic: topic))
    }
    if let last = received.marks[topic]?.number {
      guard number > last else { return nil }
      // The numbers have no holes: something was lost on the way, and is asked for again.
      guard number == last + 1 else { return .lost }
    }
    received.move(to: number, in: topic)
    return .update(.event(LiveEvent(topic: topic, name: name, number: number, id: id, payload: content)))
  }

  /// Reasons are a name, a colon and a text.
  private static func outcome(ofRefusal reason: String) -> Outcome {
    switch reason.prefix(while: { $0 != ":" }) {
    case "InvalidJWTToken": .tokenRefused
    case "Unauthorized", "TopicNameRequired", "ConfigurationError", "UnableToReplayMessages": .denied(reason: reason)
    default: .lost
    }
  }

  /// - Parameter reason: nil: the server has closed the channel without one.
  static func outcome(ofEnd reason: String?) -> Outcome {
    guard let reason else { return .lost }
    let isOfToken = ["token", "session"].contains { reason.lowercased().contains($0) }
    return isOfToken ? .tokenRefused : .ended(reason: reason)
  }
}
