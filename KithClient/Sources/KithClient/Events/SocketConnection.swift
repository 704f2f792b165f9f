import Foundation

/// One connection of a subscription over a WebSocket, with Phoenix' channels.
struct SocketConnection: Sendable {
  private enum Input: Sendable {
    case text(String)
    case tick
    /// The network may have changed.
    case wake
    /// The answer to a heartbeat should have come by now.
    case probed
    case token(Bearer)
  }

  private static let unreadMax = 64
  let api: API
  let transport: any WebSocketTransport
  let topics: [String]

  /// Reads until the connection ends.
  ///
  /// - Throws: ``WebSocketsUnavailable``, ``NoAnswer``, ``SubscriptionEnd``, and what renewing a token throws.
  func run(
    _ progress: inout SubscriptionProgress, waking signals: AsyncStream<Void>, _ tell: EventSubscription.Tell
  ) async throws {
    let bearer = try await bearer(&progress)
    let connection = try await transport.open(try url())
    var conversation = ChannelConversation(from: progress.position)
    let input = BoundedBuffer<Input>(countMax: Self.unreadMax)
    let inputs = input.stream {}
    try await withThrowingTaskGroup(of: Void.self) { group in
      // Without this the group would wait for the reader.
      defer {
        connection.close()
        group.cancelAll()
      }
      group.addTask { await read(connection, to: input) }
      group.addTask { try await tick(input) }
      group.addTask { for await _ in signals { _ = input.offer(.wake) } }
      var token = bearer
      try await send(conversation.join(topics, token: token.token), over: connection)
      for try await next in inputs {
        switch next {
        case .text(let text):
          guard let message = PhoenixMessage(text: text) else { continue }
          for (outcome, position) in conversation.receive(message) {
            progress.position = position
            try apply(outcome, token, &progress, tell)
          }
        case .tick:
          guard let heartbeat = conversation.heartbeat() else { throw NoAnswer("no heartbeat") }
          try await send([heartbeat], over: connection)
          group.addTask { await renew(input) }
        case .wake:
          if let heartbeat = conversation.heartbeat() { try await send([heartbeat], over: connection) }
          group.addTask {
            try await api.live.sleep(api.live.probe)
            _ = input.offer(.probed)
          }
        case .probed: if conversation.isWaiting { throw NoAnswer("no heartbeat") }
        case .token(let next) where next.token != token.token:
          token = next
          try await send(conversation.refresh(token: next.token), over: connection)
        case .token: break
        }
      }
      try Task.checkCancellation()
    }
  }

  /// An access token: another one after one was refused.
  private func bearer(_ progress: inout SubscriptionProgress) async throws -> Bearer {
    guard let refused = progress.refused else { return try await api.sessions.bearer() }
    let next = try await api.sessions.bearer(replacing: refused)
    progress.refused = nil
    return next
  }

  private func url() throws -> URL {
    let url = try Call.get("/realtime/v1/websocket", ["vsn": "2.0.0", "apikey": api.exchanger.apiKey])
      .request(to: api.baseURL).url
    var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
    components?.scheme = url.scheme == "http" ? "ws" : "wss"
    guard let url = components?.url else { throw KithFailure.invalid("\(api.baseURL) is no base URL") }
    return url
  }

  private func send(_ messages: [PhoenixMessage], over connection: any WebSocketConnection) async throws {
    for message in messages { try await connection.send(try message.text()) }
  }

  /// Messages that do not fit wait in the connection. What else is offered to a full buffer is left out: it comes again.
  private func read(_ connection: any WebSocketConnection, to input: BoundedBuffer<Input>) async {
    do { while true { try await input.send(.text(try await connection.receive())) } } catch {
      input.finish(throwing: error)
    }
  }

  private func tick(_ input: BoundedBuffer<Input>) async throws {
    while true {
      try await api.live.sleep(api.live.heartbeat)
      _ = input.offer(.tick)
    }
  }

  /// Without a network the token stays as it is; the server closes the channels when it ends.
  private func renew(_ input: BoundedBuffer<Input>) async {
    do { _ = input.offer(.token(try await api.sessions.bearer())) } catch KithFailure.signedOut {
      input.finish(throwing: KithFailure.signedOut)
    } catch {}
  }

  private func apply(
    _ outcome: ChannelConversation.Outcome, _ token: Bearer, _ progress: inout SubscriptionProgress,
    _ tell: EventSubscription.Tell
  ) throws {
    switch outcome {
    case .update(let update):
      if update == .connected { progress.connected() }
      try tell(update, progress.position)
    case .tokenRefused:
      progress.refused = token
      throw NoAnswer("the token was refused")
    case .denied(let reason):
      throw KithFailure.refused(Refusal(status: 403, code: .known(.forbidden), message: reason))
    case .ended(let reason): throw SubscriptionEnd(reason: reason)
    case .lost: throw NoAnswer("the channel was closed")
    }
  }
}
