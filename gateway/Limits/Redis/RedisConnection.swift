import DequeModule
import NIOCore

/// One connection to Redis, from its handshake to its end. Commands are pipelined, and replies arrive in the order of
/// the commands.
final class RedisConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// A reply that is expected before the connection is ready.
  private enum HandshakeStep { case auth, select, load, probe }

  private let client: RedisClient
  private var context: ChannelHandlerContext?
  private var handshake: Deque<HandshakeStep> = []
  private var script: RedisScript?
  private(set) var isReady = false
  private var hasEnded = false
  private var reader = RESPReader()
  private var inFlight: Deque<RedisCommand> = []
  private var out = ByteBuffer()
  private var isFlushScheduled = false
  private var isTimeoutScheduled = false
  private static let inFlightMax = 10_000
  private static let handshakeTimeout = TimeAmount.seconds(1)
  /// The time between finding a reply missing and treating it as a timeout. When it was this event loop that was busy,
  /// the reply is in the socket and is read in between.
  private static let recheckDelay = TimeAmount.milliseconds(5)

  init(of client: RedisClient) { self.client = client }

  /// The client is called with the reply, or with nil when there is none.
  ///
  /// - Returns: false when the command cannot be sent now.
  func send(_ command: RedisCommand) -> Bool {
    guard isReady, inFlight.count < Self.inFlightMax, let script else { return false }
    var command = command
    command.deadline = .now() + client.timeout - Self.recheckDelay
    script.write(command.key, command.quota, to: &out)
    enqueue(command)
    return true
  }

  /// Commands of one turn of the event loop are written together.
  private func enqueue(_ command: RedisCommand) {
    inFlight.append(command)
    scheduleTimeout()
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    client.loop.assumeIsolated().execute { [self] in
      isFlushScheduled = false
      flush()
    }
  }

  private func flush() {
    context?.writeAndFlush(wrapOutboundOut(out), promise: nil)
    out.clear()
  }

  // MARK: Channel

  func handlerAdded(context: ChannelHandlerContext) {
    guard !hasEnded else { return context.close(promise: nil) }
    self.context = context
    guard context.channel.isActive else { return end("the connection was closed") }
    startHandshake()
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  private func startHandshake() {
    if let password = client.url.password {
      handshake.append(.auth)
      if let user = client.url.user {
        out.writeCommand("AUTH", user, password)
      } else {
        out.writeCommand("AUTH", password)
      }
    }
    if client.url.database != 0 {
      handshake.append(.select)
      out.writeCommand("SELECT", String(client.url.database))
    }
    handshake.append(.load)
    out.writeCommand("SCRIPT", "LOAD", RedisScript.text)
    flush()
    client.loop.assumeIsolated().scheduleTask(in: Self.handshakeTimeout) { [self] in
      if !isReady { end("no greeting within \(Self.handshakeTimeout.seconds) s") }
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    reader.add(unwrapInboundIn(data))
    do {
      while !hasEnded, let reply = try reader.next() { receive(reply) }
    } catch {
      end("its answer is malformed")
    }
  }

  func channelInactive(context: ChannelHandlerContext) { connectionLost("the connection was closed") }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { connectionLost("\(error)") }

  /// Losing an idle connection is no fault: the next connection shows whether Redis is unavailable.
  private func connectionLost(_ reason: String) { end(reason, isFault: !isReady || !inFlight.isEmpty) }

  // MARK: Replies

  private func receive(_ reply: RESP) {
    guard isReady else { return receiveHandshakeReply(reply) }
    guard let command = inFlight.first else { return end("it answered what nobody asked") }
    if case .error(let message) = reply, message.hasPrefix("NOSCRIPT"), !command.isRetried {
      return resendWithScript(inFlight.removeFirst())
    }
    guard let parsed = RedisReply(reply, command.quota) else { return end(Self.reason(reply)) }
    inFlight.removeFirst()
    client.completed(command, parsed)
  }

  private func resendWithScript(_ command: RedisCommand) {
    var command = command
    command.isRetried = true
    script?.write(command.key, command.quota, bySHA: false, to: &out)
    enqueue(command)
  }

  private func receiveHandshakeReply(_ reply: RESP) {
    switch (handshake.popFirst(), reply) {
    case (.auth, .simple("OK")), (.select, .simple("OK")): break
    case (.load, .bulk(let sha1)):
      script = RedisScript(sha1: sha1)
      guard let script else { return end("its answer is malformed") }
      handshake.append(.probe)
      script.writeProbe(to: &out)
      flush()
    case (.probe, .array):
      isReady = true
      client.ready(self)
    case (.auth, .error(let message)): end(Self.authenticationFailure(message))
    case (_, let reply): end(Self.reason(reply))
    }
  }

  /// Only the code is logged, because some errors repeat the command, which contains the password.
  private static func authenticationFailure(_ message: String) -> String {
    let code = ["WRONGPASS", "NOPERM", "LOADING", "ERR"].first { message.hasPrefix($0 + " ") }
    return "\(code ?? "an error") to user and password"
  }

  private static func reason(_ reply: RESP) -> String {
    guard case .error(let message) = reply else { return "its answer is not what was asked for" }
    return String(message.prefix(200))
  }

  // MARK: End

  /// One timer for all commands in flight: the first one has the earliest deadline.
  private func scheduleTimeout() {
    guard !isTimeoutScheduled, let first = inFlight.first else { return }
    isTimeoutScheduled = true
    let loop = client.loop.assumeIsolated()
    loop.scheduleTask(deadline: first.deadline) { [self] in
      guard let first = inFlight.first, first.deadline <= .now() else {
        isTimeoutScheduled = false
        return scheduleTimeout()
      }
      loop.scheduleTask(in: Self.recheckDelay) { [self] in
        isTimeoutScheduled = false
        guard let first = inFlight.first, first.deadline <= .now() else { return scheduleTimeout() }
        end("no answer within \(client.timeout.milliseconds) ms")
      }
    }
  }

  /// Closes the connection. All commands in flight are completed without a reply.
  func end(_ reason: String, isFault: Bool = true) {
    guard !hasEnded else { return }
    hasEnded = true
    isReady = false
    let unanswered = inFlight
    inFlight.removeAll()
    context?.close(promise: nil)
    client.ended(self, reason, isFault: isFault)
    for command in unanswered { client.completed(command, nil) }
  }
}

extension TimeAmount {
  fileprivate var seconds: Int64 { nanoseconds / 1_000_000_000 }
  fileprivate var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
