import Foundation
import NIOCore
import Tokens
import Wire

extension Socket {
  /// Of what a client tracks, in bytes.
  private static let metaBytesMax = 8 * 1024

  // MARK: Broadcast

  func broadcast(_ message: PhoenixMessage, on channel: JoinedChannel) {
    guard let topic = conversation(of: channel, message) else { return }
    guard let broadcast = message.broadcast, broadcast.isAllowed else {
      services.metrics.refused(.malformed)
      return reply(to: message, PhoenixPayload.refusal("Invalid broadcast"))
    }
    services.conversations.publish(
      ConversationMessage(
        topic: topic, .broadcast(event: broadcast.event, broadcast.content), from: ObjectIdentifier(self)))
    if channel.options.contains(.acknowledgements) { reply(to: message, PhoenixPayload.reply(true)) }
  }

  /// The topic, when clients may tell each other something on it.
  private func conversation(of channel: JoinedChannel, _ message: PhoenixMessage) -> String? {
    guard let topic = channel.topic, topic.kind.isConversation else {
      services.metrics.refused(.rights)
      reply(to: message, PhoenixPayload.refusal("You do not have permissions to write to this Channel topic"))
      return nil
    }
    return topic.text
  }

  func deliver(_ message: ConversationMessage, on channel: JoinedChannel) {
    switch message.content {
    case .presence:
      guard channel.options.contains(.presence) else { return }
      // The client gets the whole state instead, when it can.
      guard channel.phase != .joining, isWritable else { return channel.hasMissedPresence = true }
    case .broadcast:
      let isOwn = message.sender == ObjectIdentifier(self)
      // Broadcasts are in no log: who does not read in time misses them.
      guard channel.phase != .joining, isWritable, !isOwn || channel.options.contains(.receivesOwn) else { return }
    }
    if let frame = message.frame(version, on: channel.name) { write(frame) }
  }

  // MARK: Presence

  func presence(_ message: PhoenixMessage, on channel: JoinedChannel) {
    guard let topic = conversation(of: channel, message) else { return }
    switch message.payload["event"]?.text?.lowercased() {
    case "track": track(message.payload["payload"] ?? .object([:]), topic, message, on: channel)
    case "untrack":
      untrack(channel)
      reply(to: message, PhoenixPayload.reply(true))
    default: refuseEvent(message, "unknown presence event")
    }
  }

  private func track(_ payload: JSONValue, _ topic: String, _ message: PhoenixMessage, on channel: JoinedChannel) {
    let tracked = channel.presence ?? TrackedPresence()
    channel.presence = tracked
    let (old, previous, conversations) = (tracked.entry, tracked.work, services.conversations)
    guard let entry = Self.entry(payload, topic, channel.presenceKey, insteadOf: old) else {
      services.metrics.refused(.presence)
      return reply(to: message, PhoenixPayload.refusal("Track message size exceeded"))
    }
    tracked.entry = entry
    let bound = NIOLoopBound((self, tracked), eventLoop: loop)
    tracked.work = Task { [loop] in
      await previous?.value
      // `try?`: a database that is away tracks nobody.
      let isAdded = try? await conversations.track(entry, insteadOf: old)
      loop.execute {
        let (socket, tracked) = bound.value
        if isAdded != true, tracked.entry == entry { tracked.entry = nil }
        socket.answer(message, isAdded)
      }
    }
  }

  private func answer(_ message: PhoenixMessage, _ isAdded: Bool?) {
    if isAdded == true { return reply(to: message, PhoenixPayload.reply(true)) }
    services.metrics.refused(.presence)
    let reason = isAdded == nil ? "Presence is not available at the moment" : "Too many are present"
    reply(to: message, PhoenixPayload.refusal(reason))
  }

  /// nil when the payload is not an object, or too long.
  private static func entry(
    _ payload: JSONValue, _ topic: String, _ key: String, insteadOf old: PresenceStore.Entry?
  ) -> PresenceStore.Entry? {
    guard case .object(var members) = payload, key.utf8.count <= 255 else { return nil }
    let ref = Base64URL.encode(Random.bytes(count: 9))
    members["phx_ref"] = .string(ref)
    members["phx_ref_prev"] = old.map { .string($0.ref) }
    guard let meta = try? JSON.encodeExact(JSONValue.object(members)), meta.count <= metaBytesMax else { return nil }
    return PresenceStore.Entry(topic: topic, key: key, ref: ref, meta: String(decoding: meta, as: UTF8.self))
  }

  /// Ends what the channel has tracked, if anything.
  func untrack(_ channel: JoinedChannel) {
    guard let tracked = channel.presence, let entry = tracked.entry else { return }
    tracked.entry = nil
    let (previous, conversations) = (tracked.work, services.conversations)
    tracked.work = Task {
      await previous?.value
      await conversations.untrack(entry)
    }
  }

  func sendPresenceState(on channel: JoinedChannel) {
    guard let topic = channel.topic?.text else { return }
    let conversations = services.conversations
    later {
      try await conversations.presenceState(of: topic)
    } then: { [self] state in
      // Without an answer the next change of the state tells the client.
      guard isCurrent(channel), case .success(let state) = state else { return }
      sendPresenceState(state, on: channel)
    }
  }

  /// Later, when the client does not read.
  func sendPresenceState(_ state: String, on channel: JoinedChannel) {
    guard isWritable else { return channel.hasMissedPresence = true }
    send("presence_state", state, on: channel)
  }
}

extension PhoenixMessage.Broadcast {
  /// `gap` is the server's own, by which clients know that they must read again.
  var isAllowed: Bool { !event.isEmpty && event.utf8.count <= 128 && event.lowercased() != "gap" }
}
