import NIOCore
import StrictHTTP
import Wire

/// One client's connection: takes requests one after the other, finds out who is calling, and pipes each to its service
/// and the answer back. Small bodies are gathered first, larger ones never held: each side reads only when the other has
/// room.
///
/// This file is the connection; `+Requests` is the way to the service, `+Answers` the way back.
final class ClientHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Where the present exchange stands.
  enum Phase {
    /// Between requests.
    case idle
    /// Waiting for a verdict or for a connection; the head and what has come of the body wait in `inbound`.
    case waiting
    /// The rest of a small body is to come; it gathers in `inbound`, behind its head.
    case gathering
    case piping(UpstreamHandler)
    /// Answered before the body came; a small body is skipped so that the connection can be kept.
    case skipping
    /// Answered and closing: what still comes is dropped, so that the answer is not lost in a reset.
    case lingering
  }

  let gateway: GatewayState
  let loop: LoopState
  var context: ChannelHandlerContext?
  var phase = Phase.idle
  var exchange: Exchange?
  /// What has come and is not passed on yet; begins with the present request's head while that waits.
  var inbound = ByteBuffer()
  var head = RequestHead()
  /// How many bytes of an unfinished head have been looked at.
  var scanned = 0
  /// The request as it went to the service, for as long as it may have to be sent once more.
  var forwarded = ByteBuffer()
  var requestID: [UInt8] = []
  /// Counts exchanges, so that what was asked for one is never taken for another's answer.
  var serial: UInt64 = 0
  var isDraining = false
  var peer = IPAddress.unspecified
  private var peerText: [UInt8] = []
  var deadline: NIODeadline
  private var isAdvancing = false
  private var isReading = false

  static let skippedBytesMax = 64 * 1024
  /// Told of a request whose client did not wait for the answer.
  static let gone = 499
  /// What may wait here before no more is read.
  private static let waitingBytesMax = 64 * 1024

  init(_ gateway: GatewayState, on loop: LoopState) {
    self.gateway = gateway
    self.loop = loop
    deadline = .now() + gateway.patience.head
  }

  // MARK: Channel

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func channelActive(context: ChannelHandlerContext) {
    peer = IPAddress(context.remoteAddress) ?? .unspecified
    peerText = Array(peer.description.utf8)
    loop.opened(self)
    if let failure = gateway.connections.opened(from: peer) { refuseConnection(failure) }
    read()
  }

  func channelInactive(context: ChannelHandlerContext) {
    loop.closed(self)
    gateway.connections.closed(from: peer)
    if case .piping(let upstream) = phase { upstream.close() }
    exchangeEnded(orElse: Self.gone)
    phase = .lingering
    self.context = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .lingering = phase { return }
    if inbound.readableBytes == 0 {
      inbound = unwrapInboundIn(data)
    } else {
      var incoming = unwrapInboundIn(data)
      inbound.writeBuffer(&incoming)
    }
    advance()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    isReading = false
    readIfWanted()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    guard context.channel.isWritable else { return }
    switch phase {
    case .idle:
      deadline = .now() + gateway.patience.idle
      advance()
      readIfWanted()
    case .piping(let upstream):
      renewDeadline()
      upstream.read()
    case .waiting, .gathering, .skipping, .lingering: break
    }
  }

  /// A client that has gone (RST, or a broken TLS connection).
  func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }

  // MARK: Reading

  /// Takes what can be taken of `inbound`.
  func advance() {
    guard !isAdvancing else { return }
    isAdvancing = true
    while inbound.readableBytes > 0 {
      switch phase {
      // Whoever does not take the answers has no more requests taken: answers would pile up here.
      case .idle: guard hasRoom, takeHead() else { return ended() }
      case .waiting: return ended()
      case .gathering: guard gather() else { return ended() }
      case .piping(let upstream): guard takeBody(for: upstream) else { return ended() }
      case .skipping: guard skipBody() else { return ended() }
      case .lingering: inbound = ByteBuffer()
      }
    }
    ended()
  }

  private func ended() {
    isAdvancing = false
    // The buffer goes back to those that the channel reads into.
    if inbound.readableBytes == 0 { inbound = ByteBuffer() }
  }

  /// Reads on unless enough is waiting. A client is listened to also while its request is under way: the interest in the
  /// socket stays as it is, and one that has gone is noticed.
  func readIfWanted() {
    switch phase {
    case .idle: if hasRoom { read() }
    case .gathering, .skipping, .lingering: read()
    case .waiting: if inbound.readableBytes < Self.waitingBytesMax { read() }
    case .piping(let upstream):
      // What waits for its flush counts as not written: without one there might never be room again.
      if exchange?.requestEnded == false { upstream.flush() }
      let hasRoom = exchange?.requestEnded == true || upstream.isWritable
      if hasRoom, inbound.readableBytes < Self.waitingBytesMax { read() }
    }
  }

  /// Whether the client takes what it is sent.
  var hasRoom: Bool { context?.channel.isWritable ?? false }

  private func read() {
    guard !isReading, let context else { return }
    isReading = true
    context.read()
  }

  /// What waits here, on either side, because somebody does not take it yet.
  var bufferedBytes: Int {
    let answers = context?.channel.bufferedBytes ?? 0
    guard case .piping(let upstream) = phase else { return inbound.readableBytes + answers }
    return inbound.readableBytes + answers + upstream.bufferedBytes
  }

  // MARK: Ends

  func close() { context?.close(promise: nil) }

  func drain() {
    isDraining = true
    if case .idle = phase, inbound.readableBytes == 0 { part() }
  }

  /// Ends a connection between two requests. The last answer may still be on its way.
  private func part() {
    if serial == 0 { close() } else { linger() }
  }

  /// Called every now and then: what an idle connection does not need is given back.
  func rest() {
    guard case .idle = phase, inbound.readableBytes == 0 else { return }
    forwarded = ByteBuffer()
    head = RequestHead()
    requestID = []
  }

  func deadlinePassed() {
    switch phase {
    case .idle where !hasRoom: close()
    case .idle where inbound.readableBytes > 0: refuseUnread(.timeout)
    case .idle: part()
    case .lingering, .skipping: close()
    case .waiting: refuse(.gatewayTimeout)
    case .gathering:
      exchange?.mustClose = true
      refuse(.timeout)
    case .piping(let upstream):
      guard let exchange, exchange.status == nil else { return close() }
      phase = .waiting
      upstream.close()
      self.exchange?.mustClose = true
      refuse(exchange.requestEnded ? .gatewayTimeout : .timeout)
    }
  }

  /// Where the present request comes from: the peer, or whom a trusted proxy speaks for.
  func address(_ head: RequestHead) -> (address: IPAddress, text: [UInt8]) {
    guard gateway.trusted.contains(peer), head.fields.contains(.forwardedFor) else { return (peer, peerText) }
    let values = head.fields.list.filter { $0.name == .forwardedFor }.map { text(of: $0.value) }
    let client = gateway.trusted.client(peer: peer, forwardedFor: values)
    return (client, Array(client.description.utf8))
  }

  /// Bytes of the present head as text.
  func text(of slice: Slice) -> String {
    inbound.getString(at: inbound.readerIndex + slice.start, length: slice.count) ?? ""
  }
}
