import Foundation
import NIOCore
import NIOWebSocket
import Wire

/// One WebSocket and the channels that its client has joined. Lives on the event loop of its connection, without a task
/// of its own.
final class Socket: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame

  let services: SocketServices
  let version: PhoenixVersion
  let hub: LoopHub
  let loop: any EventLoop
  /// A token of the handshake, for joins without one.
  let handshakeToken: String?
  private let address: String
  private let channel: any Channel
  /// Whole frames are written past the encoder.
  private var output: ChannelHandlerContext?
  var channels: [String: JoinedChannel] = [:]
  /// The user of the socket, from the first join on.
  var user: UserID?
  /// What counts the socket among those of its user; nil inside when there are too many.
  var connection: EventLoopFuture<OpenConnection?>?
  var messages: RateAllowance
  /// Of what does not count as a message: heartbeats, joins, pings and what was refused.
  var controls: RateAllowance
  /// How many channels are reading the log.
  var readingCount = 0
  private var heardAt: NIODeadline
  private var pingedAt: NIODeadline
  private var unflushedBytes = 0
  private var unwritableSince: NIODeadline?
  private(set) var isClosing = false

  init(_ services: SocketServices, _ handshake: Handshake, on channel: any Channel) {
    self.services = services
    self.channel = channel
    loop = channel.eventLoop
    version = handshake.version
    handshakeToken = handshake.token
    address = handshake.address
    hub = services.hub.hub(of: channel.eventLoop)
    let (now, settings) = (NIODeadline.now(), services.settings)
    messages = RateAllowance(perSecond: settings.messagesPerSecond, burst: settings.messagesBurst, at: now)
    controls = RateAllowance(
      perSecond: SocketSettings.controlsPerSecond, burst: SocketSettings.controlsBurst, at: now)
    (heardAt, pingedAt) = (now, now)
  }

  var isWritable: Bool { channel.isWritable && !isClosing }

  // MARK: Connection

  func handlerAdded(context: ChannelHandlerContext) {
    // `try?`: without its encoder the connection is no WebSocket, and closed.
    output = try? context.pipeline.syncOperations.context(handlerType: WebSocketFrameEncoder.self)
    guard output != nil else { return context.close(promise: nil) }
    hub.add(self)
    services.metrics.open.add(1, .sockets)
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  private func end() {
    guard output != nil else { return }
    output = nil
    isClosing = true
    for channel in Array(channels.values) { forget(channel) }
    hub.remove(self)
    services.limits.close(from: address)
    connection?.whenSuccess { [limits = services.limits] in if let connection = $0 { limits.close(connection) } }
    services.metrics.open.add(-1, .sockets)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent: stop()
    case ChannelEvent.inputClosed: context.close(promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The client has gone without a word, as phones do.
    if error is IOError { return context.close(promise: nil) }
    let isTooLong =
      error as? NIOWebSocketError == .invalidFrameLength
      || error as? NIOWebSocketFrameAggregator.Error == .accumulatedFrameSizeIsTooLarge
    services.metrics.refused(isTooLong ? .size : .malformed)
    close(isTooLong ? .messageTooLarge : .protocolError)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    heardAt = .now()
    guard !isClosing || frame.opcode == .connectionClose else { return }
    switch frame.opcode {
    case .text:
      receive(PhoenixMessage(text: frame.unmaskedData, version))
    case .binary:
      receive(version == .v2 ? PhoenixMessage(binary: frame.unmaskedData) : nil)
    case .ping: if spendControl() { write(PhoenixFrame.pong(frame.unmaskedData)) }
    case .connectionClose:
      if !isClosing { write(PhoenixFrame.close(.normalClosure)) }
      isClosing = true
      context.close(promise: nil)
    default: break
    }
  }

  private func receive(_ message: PhoenixMessage?) {
    guard let message else {
      services.metrics.refused(.malformed)
      _ = spendControl()
      return
    }
    handle(message)
  }

  /// Closes the socket of a client that floods it.
  func spendControl() -> Bool {
    guard !controls.spend(at: .now()) else { return true }
    services.metrics.refused(.messages)
    close(.policyViolation)
    return false
  }

  // MARK: Writing

  func write(_ frame: ByteBuffer) { output?.writeAndFlush(NIOAny(frame), promise: nil) }

  /// The frame of an event, which is sent when the other events that are delivered with it are written.
  func writeDelivered(_ frame: ByteBuffer) {
    output?.write(NIOAny(frame), promise: nil)
    if unflushedBytes == 0 { hub.flushLater(self) }
    unflushedBytes += frame.readableBytes
    // Before so much is waiting that a client seems to be slow.
    if unflushedBytes >= Self.unflushedBytesMax { flushDelivered() }
  }

  func flushDelivered() {
    unflushedBytes = 0
    output?.flush()
  }

  private static let unflushedBytesMax = 32 * 1024

  /// Several frames with one system call.
  func write(_ frames: [ByteBuffer]) {
    for frame in frames { output?.write(NIOAny(frame), promise: nil) }
    output?.flush()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    // A client that does not read what it is sent is not listened to either, so that answers do not pile up.
    // `try?`: only a closed channel has no such option.
    try? channel.syncOptions?.setOption(.autoRead, value: channel.isWritable)
    if channel.isWritable {
      unwritableSince = nil
      for channel in Array(channels.values) { becameWritable(channel) }
    } else if unwritableSince == nil {
      unwritableSince = .now()
    }
    context.fireChannelWritabilityChanged()
  }

  // MARK: Closing

  /// Closes with a code, after which the client has a moment to answer.
  func close(_ code: WebSocketErrorCode) {
    guard !isClosing else { return }
    isClosing = true
    write(PhoenixFrame.close(code))
    loop.scheduleTask(in: .seconds(1)) { [channel] in channel.close(promise: nil) }
  }

  /// Closes at a random moment of the time in which this process may stop.
  func stop() {
    let milliseconds = Int64.random(in: 0...Int64(services.settings.closeSeconds) * 1000)
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: .milliseconds(milliseconds)) { bound.value.close(Self.serviceRestart) }
  }

  /// 1012, the code after which clients connect again (registered with IANA).
  private static let serviceRestart = WebSocketErrorCode(codeNumber: 1012)

  /// Ends channels whose token is no longer valid, and the socket of a client that neither answers nor reads.
  func sweep(at now: NIODeadline, date: Date) {
    guard !isClosing else { return }
    if let unwritableSince, now - unwritableSince > SocketSettings.slowReaderLimit {
      services.metrics.refused(.slowReader)
      return dropSlowReader()
    }
    if now - heardAt > services.settings.silenceLimit {
      services.metrics.refused(.silent)
      return close(.goingAway)
    }
    if now - pingedAt >= services.settings.pingInterval {
      pingedAt = now
      write(PhoenixFrame.ping)
    }
    for channel in channels.values {
      guard let credential = channel.credential, let rejected = services.verifier.rejection(of: credential, at: date)
      else { continue }
      services.metrics.refused(.token)
      close(channel, because: rejected.message)
    }
  }

  /// What is not sent yet comes after the gap that the client returns to: its number is the last one that was sent. It
  /// has a moment to read that far.
  private func dropSlowReader() {
    write(channels.values.compactMap { $0.topic == nil ? nil : gapFrame(on: $0) })
    close(.init(codeNumber: 1013))
  }

  /// What the channel has been sent is complete up to its number.
  func gapFrame(on channel: JoinedChannel) -> ByteBuffer {
    let (seq, epoch) = (channel.position.seq, channel.position.epoch)
    return PhoenixFrame.message(
      version, topic: channel.name, event: "broadcast",
      payload: PhoenixPayload.gap(LogGap(oldest: seq + 1, top: seq, epoch: epoch)))
  }
}

extension Socket {
  /// Runs work outside of the event loop, and continues on it with the result.
  func later<T: Sendable>(
    _ work: @escaping @Sendable () async throws -> T, then: @escaping (Result<T, any Error>) -> Void
  ) {
    let (loop, bound) = (loop, NIOLoopBound(then, eventLoop: loop))
    Task {
      let result: Result<T, any Error>
      do { result = .success(try await work()) } catch { result = .failure(error) }
      loop.execute { bound.value(result) }
    }
  }
}
