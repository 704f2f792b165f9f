import NIOCore

/// A WebSocket between a client and a service, after its handshake: forwards bytes in both directions, reads each side
/// only while the other is writable, and gives up a side that is silent for too long.
///
/// Frames are not decoded. Only their boundaries toward the client are known, so that the gateway can end a WebSocket
/// that its service does not end: with code 1012, at which clients reconnect.
final class Tunnel {
  /// Who ended a WebSocket, or why the gateway did.
  enum End: String, Sendable, CaseIterable {
    case client
    case service
    case clientSilent = "client_silent"
    case serviceSilent = "service_silent"
    case restart
  }

  let request: TunnelRequest
  private(set) var bytesFromClient = 0
  private(set) var bytesFromService = 0
  private let client: ClientHandler
  private let upstream: UpstreamHandler
  private var frames = FrameBoundary()
  private var clientHeardAt = NIODeadline.now()
  private var serviceHeardAt = NIODeadline.now()
  /// When the gateway ends it because it stops.
  private var restartsAt = NIODeadline.distantFuture
  /// When it ends although one side has not ended it.
  private var endsAt = NIODeadline.distantFuture
  /// The side that has ended it, while the other has not.
  private var endedFirst: End?
  /// Whether it ends when the service has completed the frame that it is sending.
  private var endsAfterFrame = false
  private var isClientInputClosed = false
  private var isServiceInputClosed = false
  private var hasEnded = false

  init(_ request: TunnelRequest, client: ClientHandler, upstream: UpstreamHandler) {
    self.request = request
    self.client = client
    self.upstream = upstream
  }

  var bufferedBytes: Int { upstream.bufferedBytes }

  private var timeouts: TunnelTimeouts { client.gateway.timeouts.tunnel }

  // MARK: From the client

  func receivedFromClient(_ bytes: ByteBuffer) {
    clientHeardAt = .now()
    bytesFromClient += bytes.readableBytes
    upstream.send(bytes)
  }

  func clientReadPaused() {
    upstream.flush()
    readClient()
  }

  func clientBecameWritable() { readService() }

  /// The client sends nothing more, but may still receive.
  func clientInputClosed() {
    isClientInputClosed = true
    upstream.endOutput(isInputClosed: isServiceInputClosed)
    awaitEnd(after: .client)
  }

  func clientClosed() { end(.client) }

  private func readClient() {
    if !hasEnded, !isClientInputClosed, upstream.isWritable { client.read() }
  }

  // MARK: From the service

  func receivedFromService(_ bytes: ByteBuffer) {
    guard !hasEnded else { return }
    serviceHeardAt = .now()
    bytesFromService += bytes.readableBytes
    guard endsAfterFrame else {
      frames.advance(over: bytes.readableBytesUInt8Span)
      return client.send(bytes)
    }
    let count = frames.advanceToEnd(in: bytes.readableBytesUInt8Span)
    if let rest = bytes.getSlice(at: bytes.readerIndex, length: count) { client.send(rest) }
    if frames.isReached { restart() }
  }

  func serviceReadPaused() {
    guard !hasEnded else { return }
    client.flush()
    readService()
  }

  func upstreamBecameWritable() { readClient() }

  /// The service sends nothing more: it has closed the WebSocket, or its process has ended.
  func serviceInputClosed() {
    guard !hasEnded else { return }
    sendRestartFrame()
    isServiceInputClosed = true
    client.endOutput(isInputClosed: isClientInputClosed)
    awaitEnd(after: .service)
  }

  func serviceClosed() {
    sendRestartFrame()
    end(.service)
  }

  private func readService() {
    if !hasEnded, !isServiceInputClosed, client.isClientWritable { upstream.read() }
  }

  // MARK: Deadlines

  /// When ``deadlinePassed()`` is to be called.
  var deadline: NIODeadline {
    min(clientHeardAt + timeouts.clientSilence, serviceHeardAt + timeouts.serviceSilence, restartsAt, endsAt)
  }

  private func awaitEnd(after side: End) {
    guard !hasEnded else { return }
    endedFirst = endedFirst ?? side
    endsAt = .now() + timeouts.closing
    client.deadline = deadline
  }

  /// Ends it within `time`, because the gateway stops.
  func restart(within time: TimeAmount) {
    restartsAt = .now() + .nanoseconds(.random(in: 0...max(time.nanoseconds, 0)))
    client.deadline = deadline
  }

  func deadlinePassed() {
    let now = NIODeadline.now()
    if endsAt <= now { return end(.restart) }
    if restartsAt <= now { return restart() }
    // A service that is not read, because the client takes nothing, is not silent.
    if clientHeardAt + timeouts.clientSilence <= now { return endAtFrame(.clientSilent) }
    if serviceHeardAt + timeouts.serviceSilence <= now {
      return endAtFrame(client.isClientWritable ? .serviceSilent : .clientSilent)
    }
    client.deadline = deadline
  }

  // MARK: End

  /// Ends it now, or when the service has completed the frame that it is sending.
  private func restart() {
    guard !frames.isReached else { return endAtFrame(.restart) }
    endsAfterFrame = true
    (restartsAt, endsAt) = (.distantFuture, .now() + timeouts.closing)
    client.deadline = deadline
  }

  private func endAtFrame(_ end: End) {
    sendRestartFrame()
    self.end(end)
  }

  /// Tells the client to reconnect, unless the service has sent a Close frame, or only a part of a frame.
  private func sendRestartFrame() {
    guard !hasEnded, !isServiceInputClosed, frames.allowsFrame else { return }
    client.send(ByteBuffer(bytes: FrameBoundary.restartFrame))
    client.flush()
  }

  private func end(_ end: End) {
    guard !hasEnded else { return }
    hasEnded = true
    upstream.close()
    client.tunnelEnded(self, endedFirst ?? end, isInputClosed: isClientInputClosed)
  }
}
