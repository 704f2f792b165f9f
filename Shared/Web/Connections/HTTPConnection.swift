import Hummingbird
import NIOCore
import StrictHTTP

/// The channel handler of one HTTP/1.1 connection of a service: reads requests one after the other, by the same strict
/// rules as the gateway, has each responded to by the connection's task on the event loop, and writes the response.
///
/// It takes the place of Hummingbird's handlers and of `NIOAsyncChannel`, which took a fifth of the time of a small request.
/// This file has the connection, `+Task` the task, `+Requests` the way of requests, `+Responses` that of responses.
final class HTTPConnection: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// What the connection does between two requests, and with one.
  enum Phase {
    /// Between requests. Received bytes are the beginning of a head.
    case idle
    /// Receives a small body into `inbound`, behind its head.
    case buffering
    /// A task responds. The body is received meanwhile, if it is not small.
    case responding
    /// Responded before a small body has arrived, which is discarded so that the connection can be kept.
    case discardingBody
    /// Responded and closing: received bytes are discarded, so that the response is not lost in a reset.
    case lingering
  }

  let service: HTTPService
  let loop: any EventLoop
  var context: ChannelHandlerContext?
  var phase = Phase.idle
  var head = RequestHead(limits: .services)
  /// Received bytes that have not been passed on.
  var inbound = ByteBuffer()
  /// How many bytes of an incomplete head have been searched for a line end.
  var scannedBytes = 0
  /// How the rest of a body that is not small ends.
  var body: RequestBodyDecoder?
  var bodyStream: RequestBodyStream?
  /// Written bytes that have not been passed to the channel.
  var outbound = ByteBuffer()
  var response: OutgoingResponse?
  /// How many requests in a row were responded to by loop routes since bytes were received.
  var loopResponseCount = 0
  var mustClose = false
  var hasHadRequests = false
  /// Completed when the channel takes more bytes, or is closed.
  var writable: EventLoopPromise<Void>?
  private(set) var isInputClosed = false
  /// Nothing more will be written, and all has been sent.
  private var hasSentAll = false
  private var isReadPending = false
  private var isAdvancing = false
  private var deadline = NIODeadline.distantFuture
  /// How many bytes the client had not taken when a deadline last passed.
  private var unsentBytesBefore = 0
  /// One timer at most, which looks at the deadline: most deadlines change before they pass.
  private var timer: (at: NIODeadline, task: Scheduled<Void>)?
  /// What the task responds to next, or its wait for that.
  var next: Exchange?
  var waiting: CheckedContinuation<Exchange?, Never>?

  init(_ service: HTTPService, on channel: any Channel) {
    self.service = service
    loop = channel.eventLoop
  }

  // MARK: Channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    setDeadline(service.timeouts.idle)
  }

  func channelInactive(context: ChannelHandlerContext) { closed() }

  /// Without having been inactive, for a connection that was reset before it was accepted.
  func handlerRemoved(context: ChannelHandlerContext) { closed() }

  private func closed() {
    guard context != nil else { return }
    context = nil
    timer?.task.cancel()
    timer = nil
    endBodyStream(with: IncompleteRequest())
    writable?.succeed()
    writable = nil
    waiting?.resume(returning: nil)
    waiting = nil
    response?.onClientEnd?()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if inbound.readableBytes == 0 {
      inbound = unwrapInboundIn(data)
    } else {
      var incoming = unwrapInboundIn(data)
      inbound.writeBuffer(&incoming)
    }
    loopResponseCount = 0
    advance()
  }

  /// Holds reading back while enough is buffered.
  func read(context: ChannelHandlerContext) {
    guard isReadPaused else { return context.read() }
    isReadPending = true
  }

  func readIfWanted() {
    guard isReadPending, !isReadPaused else { return }
    isReadPending = false
    context?.read()
  }

  private var isReadPaused: Bool {
    inbound.readableBytes >= Self.bufferedBytesMax || bodyStream?.wantsMore == false
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    guard context.channel.isWritable else { return }
    if case .responding = phase { setDeadline(nil) }
    // What waits may write the next response, and wait again.
    let waiting = writable
    writable = nil
    waiting?.succeed()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent: quiesce()
    case ChannelEvent.inputClosed:
      isInputClosed = true
      inputClosed()
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  private func inputClosed() {
    mustClose = true
    switch phase {
    case .responding:
      endBodyStream(with: IncompleteRequest())
      response?.onClientEnd?()
    // What has been received is no whole request, or has been responded to.
    case .idle, .buffering, .discardingBody: closeOnceSent()
    case .lingering: if hasSentAll { close() }
    }
  }

  /// The client reset the connection.
  func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }

  func close() { context?.close(promise: nil) }

  /// The client may not have taken all of the last response yet.
  private func closeOnceSent() {
    if unsentBytes == 0 { close() } else { linger() }
  }

  /// Written bytes that wait for the client.
  private var unsentBytes: Int {
    // `try?`: a closed channel has none.
    (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  // MARK: Received bytes

  /// Passes on as much of `inbound` as is possible in the current phase.
  func advance() {
    guard !isAdvancing else { return }
    isAdvancing = true
    while inbound.readableBytes > 0 {
      let wentOn =
        switch phase {
        case .idle: readHead()
        case .buffering: bufferBody()
        case .responding: receiveBody()
        case .discardingBody: discardBody()
        case .lingering: discardAll()
        }
      guard wentOn else { break }
    }
    isAdvancing = false
    // Releases the buffer, so that the channel can reuse it.
    if inbound.readableBytes == 0 { inbound = ByteBuffer() }
    readIfWanted()
  }

  private func discardAll() -> Bool {
    inbound.clear()
    return false
  }

  /// The connection can take the next request, or closes.
  func finishExchange() {
    response = nil
    body = nil
    endBodyStream(with: IncompleteRequest())
    guard context != nil else { return }
    guard !mustClose, !isInputClosed else { return linger() }
    phase = .idle
    setDeadline(service.timeouts.idle)
    // Does nothing where `advance` has called this: it goes on by itself.
    advance()
  }

  /// Sends what is written, and closes once the client has read it: a reset would take it from the client.
  func linger() {
    phase = .lingering
    inbound.clear()
    guard let context else { return }
    setDeadline(service.timeouts.write)
    let sent = loop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
    sent.futureResult.assumeIsolated().whenSuccess { [weak self] in self?.allIsSent() }
    // What is discarded is no longer held back, and the end of it is noticed.
    readIfWanted()
  }

  private func allIsSent() {
    hasSentAll = true
    guard let context, !isInputClosed else { return close() }
    context.close(mode: .output, promise: nil)
    setDeadline(service.timeouts.linger)
  }

  // MARK: Deadlines

  /// Reading stops when this much waits.
  static let bufferedBytesMax = 64 * 1024

  /// - Parameter time: from now; nil for none.
  func setDeadline(_ time: TimeAmount?) {
    guard context != nil else { return }
    deadline = time.map { .now() + $0 } ?? .distantFuture
    guard deadline < timer?.at ?? .distantFuture else { return }
    timer?.task.cancel()
    let at = deadline
    timer = (at, loop.assumeIsolated().scheduleTask(deadline: at) { [weak self] in self?.timerFired() })
  }

  private func timerFired() {
    timer = nil
    let now = NIODeadline.now()
    guard deadline <= now else {
      if deadline < .distantFuture { setDeadline(deadline - now) }
      return
    }
    if case .idle = phase, mustClose, inbound.readableBytes == 0 { return closeOnceSent() }
    let unsent = unsentBytes
    // A client that reads slowly has as long as it takes.
    guard unsent == 0 || unsent == unsentBytesBefore else {
      unsentBytesBefore = unsent
      return setDeadline(service.timeouts.write)
    }
    switch phase {
    case .idle where inbound.readableBytes > 0, .buffering: refuse(.timeout)
    case .idle, .responding, .discardingBody, .lingering: close()
    }
  }
}
