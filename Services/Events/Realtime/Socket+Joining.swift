import NIOCore
import Wire

extension Socket {
  func join(_ request: JoinRequest, _ message: PhoenixMessage) {
    guard controls.spend(at: .now()) else {
      refuse(message, JoinRefusal.tooManyJoins)
      return close(.policyViolation)
    }
    do {
      try requireAllowed(request)
      let topic = TopicName(request.channel)
      guard topic != nil || !request.isPrivate else { throw JoinRefusal.unauthorized(request.channel) }
      guard topic != nil || request.since == nil else { throw JoinRefusal.noReplay }
      guard let token = request.token ?? handshakeToken else { throw JoinRefusal.token(.invalid) }
      if let live = channels[request.name] { close(live) }
      begin(request, message, topic, token)
    } catch {
      refuse(message, error)
    }
  }

  private func requireAllowed(_ request: JoinRequest) throws(JoinRefusal) {
    guard !isClosing else { throw .restarting }
    guard !request.channel.isEmpty, request.name.utf8.count <= 255 else { throw .noName }
    // A channel that is joined again takes its own place.
    let others = channels.count - (channels[request.name] == nil ? 0 : 1)
    guard others < services.settings.channelsMax else { throw .tooManyChannels }
    guard request.changes.count <= JoinRequest.changesMax else { throw .tooManyChanges }
    guard request.isSinceValid else { throw .invalidSince }
  }

  private func begin(_ request: JoinRequest, _ message: PhoenixMessage, _ topic: TopicName?, _ token: String) {
    var invalid: ChangeFilterInvalid?
    let bindings = request.changes.compactMap { entry -> ChangeBinding? in
      do throws(ChangeFilterInvalid) { return try ChangeBinding(entry) } catch {
        invalid = invalid ?? error
        return nil
      }
    }
    let channel = JoinedChannel(request, topic: topic, bindings: bindings, on: self)
    channels[request.name] = channel
    services.metrics.open.add(1, .channels)
    let verifier = services.verifier
    later {
      try await verifier.credential(of: token)
    } then: { [self] credential in
      guard isCurrent(channel) else { return }
      do {
        try subscribe(channel, try credential.get())
        askForRights(of: channel, request, message, invalid)
      } catch {
        forget(channel)
        refuse(message, error)
      }
    }
  }

  /// Before the rights are asked for, so that nothing is missed between the two.
  private func subscribe(_ channel: JoinedChannel, _ credential: Credential) throws {
    if user == nil { countConnection(of: credential.user) }
    guard user == credential.user else { throw JoinRefusal.otherUser }
    channel.credential = credential
    hub.add(channel, of: credential.user)
  }

  /// Counts the socket among those of the user. If there are too many, a later join may try again.
  private func countConnection(of user: UserID) {
    let connection = loop.makeFutureWithTask { [limits = services.limits] in await limits.open(by: user) }
    (self.user, self.connection) = (user, connection)
    connection.assumeIsolated().whenSuccess { [self] in if $0 == nil { (self.user, self.connection) = (nil, nil) } }
  }

  /// What a join has to know before it is answered.
  private struct Admission: Sendable {
    let top: LogPosition
    /// Whose rows the channel gets in addition.
    let topics: Set<String>
    /// The place in the whole log after which it gets these rows.
    let rowsAfter: Int
    let presence: String?
  }

  private func askForRights(
    of channel: JoinedChannel, _ request: JoinRequest, _ message: PhoenixMessage, _ invalid: ChangeFilterInvalid?
  ) {
    guard let user, let connection else { return }
    let (topic, services, hasBindings) = (channel.topic, services, !channel.bindings.isEmpty)
    let hasPresence = channel.options.contains(.presence) && topic?.kind.isConversation == true
    later { () -> Admission in
      guard try await connection.get() != nil else { throw JoinRefusal.tooManySockets }
      guard let topic else {
        let topics = try await services.rights.readable(by: user)
        // Afterwards: what is in the log by then may be from before the user was let in.
        let end = try await services.reads.run { try await services.store.end() }
        return Admission(
          top: LogPosition(seq: 0, epoch: end.epoch), topics: topics, rowsAfter: end.position, presence: nil)
      }
      guard try await services.rights.mayRead(topic, user) else { throw JoinRefusal.unauthorized(topic.text) }
      var topics: Set<String> = []
      if hasBindings, let rows = topic.withFewerReaders, try await services.rights.mayRead(rows, user) {
        topics.insert(rows.text)
      }
      let end = topics.isEmpty ? nil : try await services.reads.run { try await services.store.end() }
      return Admission(
        top: try await services.reads.run { try await services.store.top(of: topic.text) }, topics: topics,
        rowsAfter: end?.position ?? 0,
        presence: hasPresence ? try await services.conversations.presenceState(of: topic.text) : nil)
    } then: { [self] result in
      guard isCurrent(channel) else { return }
      do {
        try admit(channel, try result.get(), request, message, invalid)
      } catch {
        forget(channel)
        refuse(message, error)
      }
    }
  }

  private func admit(
    _ channel: JoinedChannel, _ admission: Admission, _ request: JoinRequest, _ message: PhoenixMessage,
    _ invalid: ChangeFilterInvalid?
  ) throws {
    channel.lastPosition = admission.rowsAfter
    for topic in admission.topics { hub.add(channel, to: topic) }
    let changes = channel.accessChanges
    channel.accessChanges = []
    // Before the answer, which says that the channel is open.
    if let topic = channel.topic, changes.last(where: { $0.topic == topic.text })?.mayRead == false {
      throw JoinRefusal.unauthorized(topic.text)
    }
    channel.phase = .live
    // Whoever was removed and added again meanwhile may read it.
    for change in changes where change.topic != channel.topic?.text { rightsChanged(change, on: channel) }
    answer(channel, admission, request, message)
    if let topic = channel.topic {
      start(channel, of: topic, at: admission.top, since: request.since)
    }
    if channel.hasMissedReplacement { readAgain(channel) }
    if let presence = admission.presence { sendPresenceState(presence, on: channel) }
    if channel.hasMissedPresence {
      // Somebody has come or gone since the state was read.
      channel.hasMissedPresence = false
      sendPresenceState(on: channel)
    }
    guard !request.changes.isEmpty else { return }
    if invalid != nil { services.metrics.refused(.filter) }
    let outcome = invalid?.message ?? "Subscribed to PostgreSQL"
    send(
      "system",
      PhoenixPayload.system(invalid == nil, "postgres_changes", outcome, channel: channel.shortName), on: channel)
  }

  private func answer(
    _ channel: JoinedChannel, _ admission: Admission, _ request: JoinRequest, _ message: PhoenixMessage
  ) {
    let seq = channel.topic == nil ? "" : #","seq":\#(admission.top.seq)"#
    let response = #"{"postgres_changes":\#(request.echo)\#(seq),"epoch":"\#(admission.top.epoch)"}"#
    write(
      PhoenixFrame.message(
        version, joinRef: channel.joinRef, ref: message.ref, topic: channel.name, event: "phx_reply",
        payload: PhoenixPayload.reply(true, response: response)))
  }

  /// Without `since` the channel begins with the next event.
  private func start(_ channel: JoinedChannel, of topic: TopicName, at top: LogPosition, since: Int?) {
    let epoch = channel.position.epoch.isEmpty ? top.epoch : channel.position.epoch
    channel.position = LogPosition(seq: since ?? top.seq, epoch: since == nil ? top.epoch : epoch)
    channel.missed = max(channel.missed, top.seq)
    if channel.missed != channel.position.seq || channel.position.epoch != top.epoch { catchUp(channel) }
  }

  private func refuse(_ message: PhoenixMessage, _ error: any Error) {
    let refusal: JoinRefusal =
      switch error {
      case let refusal as JoinRefusal: refusal
      case let rejected as CredentialRejected: .token(rejected)
      default: .unavailable
      }
    services.metrics.refused(refusal.metric)
    write(
      PhoenixFrame.message(
        version, joinRef: message.joinRef ?? message.ref, ref: message.ref, topic: message.topic, event: "phx_reply",
        payload: PhoenixPayload.refusal(refusal.reason)))
    // Swift's client does not look at the status of the answer, and would wait and try again. Python's does, and would
    // not try again after a close.
    guard version == .v2, refusal.isFinal else { return }
    write(
      PhoenixFrame.message(
        version, joinRef: message.joinRef ?? message.ref, ref: message.ref, topic: message.topic,
        event: "phx_close", payload: "{}"))
  }
}
