import NIOCore
import Wire

extension Socket {
  func handle(_ message: PhoenixMessage) {
    switch (message.topic, message.event) {
    case ("phoenix", "heartbeat"): if spendControl() { reply(to: message, PhoenixPayload.reply(true)) }
    case (_, "phx_join"): join(JoinRequest(message), message)
    case (_, "phx_leave"): if spendControl() { leave(message) }
    // Clients refresh the token of all their channels at once.
    case (_, "access_token"): if spendControl() { push(message) }
    default:
      guard messages.spend(at: .now()) else {
        services.metrics.refused(.messages)
        guard spendControl() else { return }
        return reply(to: message, PhoenixPayload.refusal("Too many messages per second"))
      }
      push(message)
    }
  }

  private func push(_ message: PhoenixMessage) {
    guard let channel = channels[message.topic], channel.phase != .joining else {
      services.metrics.refused(.unmatched)
      return reply(to: message, PhoenixPayload.refusal("unmatched topic"))
    }
    // As Phoenix does with what a client sent before it has joined again.
    if let joinRef = message.joinRef, joinRef != channel.joinRef { return }
    switch message.event {
    case "access_token": refresh(channel, message)
    case "broadcast": broadcast(message, on: channel)
    case "presence": presence(message, on: channel)
    default: refuseEvent(message, "unknown event")
    }
  }

  func refuseEvent(_ message: PhoenixMessage, _ reason: String) {
    services.metrics.refused(.event)
    reply(to: message, PhoenixPayload.refusal(reason))
  }

  private func leave(_ message: PhoenixMessage) {
    guard let channel = channels[message.topic] else { return reply(to: message, PhoenixPayload.reply(true)) }
    if let joinRef = message.joinRef, joinRef != channel.joinRef { return }
    // Without a delay between the two: Swift waits for the second, Python joins again after the first.
    reply(to: message, PhoenixPayload.reply(true))
    close(channel)
  }

  /// Without a `ref` nobody waits for an answer, but for a heartbeat, whose answer tells that the connection is alive.
  func reply(to message: PhoenixMessage, _ payload: String) {
    guard message.ref != nil || message.event == "heartbeat" else { return }
    write(
      PhoenixFrame.message(
        version, joinRef: message.joinRef, ref: message.ref, topic: message.topic, event: "phx_reply",
        payload: payload))
  }

  /// A message from the server on a channel.
  func send(_ event: String, _ payload: String, on channel: JoinedChannel) {
    write(PhoenixFrame.message(version, topic: channel.name, event: event, payload: payload))
  }

  /// Ends a channel with the reason, which clients show or log.
  func close(_ channel: JoinedChannel, because message: String) {
    send("system", PhoenixPayload.system(false, "system", message, channel: channel.shortName), on: channel)
    close(channel)
  }

  func close(_ channel: JoinedChannel) {
    forget(channel)
    write(
      PhoenixFrame.message(
        version, joinRef: channel.joinRef, ref: channel.joinRef, topic: channel.name, event: "phx_close",
        payload: "{}"))
  }

  /// Removes the channel, without a word to the client.
  func forget(_ channel: JoinedChannel) {
    guard channels[channel.name] === channel else { return }
    channels[channel.name] = nil
    hub.remove(channel)
    untrack(channel)
    services.metrics.open.add(-1, .channels)
  }

  func isCurrent(_ channel: JoinedChannel) -> Bool { channels[channel.name] === channel && !isClosing }

  // MARK: Tokens

  private func refresh(_ channel: JoinedChannel, _ message: PhoenixMessage) {
    guard let token = message.payload["access_token"]?.text, !token.isEmpty, !token.hasPrefix("sb_"),
      token.hashValue != channel.tokenHash, let user
    else { return }
    let hash = token.hashValue
    channel.tokenHash = hash
    let (topic, services) = (channel.topic, services)
    later {
      let credential = try await services.verifier.credential(of: token)
      guard credential.user == user else { throw CredentialRejected.invalid }
      if let topic, try await !services.rights.mayRead(topic, user) { throw JoinRefusal.unauthorized(topic.text) }
      return credential
    } then: { [self] (result: Result<Credential, any Error>) in
      // A later token has been sent meanwhile: it decides.
      guard isCurrent(channel), channel.tokenHash == hash else { return }
      switch result {
      case .success(let credential): channel.credential = credential
      case .failure(let rejected as CredentialRejected):
        services.metrics.refused(.token)
        close(channel, because: rejected.message)
      case .failure(is JoinRefusal):
        services.metrics.refused(.rights)
        close(channel, because: noPermission(channel.shortName))
      case .failure:
        services.metrics.refused(.unavailable)
        // The token that was valid before is so until it expires.
        channel.tokenHash = 0
      }
    }
  }
}
