import HTTPTypes
import Hummingbird
import NIOCore
import StrictHTTP
import Wire

/// A response that is being written.
struct OutgoingResponse {
  enum BodyFraming {
    /// The status or the method allows none.
    case none
    /// How many bytes are still to come.
    case length(Int)
    case chunked
    /// For HTTP/1.0.
    case untilClose
  }

  var framing: BodyFraming
  var hasEnded = false
  /// Called when the client ends its side of the connection, and when the connection is closed.
  var onClientEnd: (@Sendable () -> Void)?
}

/// The way of responses: from the task to bytes.
extension HTTPConnection {
  /// Larger parts are not copied behind the head.
  private static let copiedBytesMax = 16 * 1024
  /// A client whose request ends within so many bytes keeps its connection after an early response.
  private static let discardedBytesMax = 64 * 1024

  /// Writes a response and its body, and begins with the next request.
  func write(_ response: Response) async {
    begin(response)
    if case .none? = self.response?.framing {
      self.response?.hasEnded = true
    } else {
      let writer = ConnectionBodyWriter(connection: NIOLoopBound(self, eventLoop: loop), loop: loop)
      do { try await response.body.write(writer) } catch {
        service.logger.debug("a response was cut off", metadata: ["error": "\(error)"])
      }
    }
    end()
  }

  private func begin(_ response: Response) {
    if let body, body.missingBytes.map({ $0 > Self.discardedBytesMax }) ?? true { mustClose = true }
    if response.headers[values: .connection].contains("close") { mustClose = true }
    let framing = framing(of: response)
    if case .untilClose = framing { mustClose = true }
    self.response = OutgoingResponse(framing: framing)
    clearSentBytes()
    outbound.writeHead(of: response, framing: framing, date: service.date.value, connection: connectionOption)
    // Those who read a stream learn at once that it has begun.
    switch framing {
    case .chunked, .untilClose: flush()
    case .none, .length: break
    }
  }

  /// Begins the response to a request without a body.
  func begin(_ response: LoopResponse) {
    if response.closesConnection { mustClose = true }
    self.response = OutgoingResponse(framing: .length(response.body.readableBytes))
    clearSentBytes()
    outbound.writeHead(of: response, date: service.date.value, connection: connectionOption)
  }

  /// The value of `Connection`; nil for none.
  private var connectionOption: StaticString? { mustClose ? "close" : head.isVersion10 ? "keep-alive" : nil }

  private func framing(of response: Response) -> OutgoingResponse.BodyFraming {
    switch response.status.code {
    case 100..<200, 204, 304: return .none
    default: if head.method == .HEAD { return .none }
    }
    let length = response.body.contentLength ?? response.headers[.contentLength].flatMap { Int($0) }
    if let length { return .length(length) }
    return head.isVersion10 ? .untilClose : .chunked
  }

  /// - Returns: nil when more can be written at once, or else a future to wait for.
  /// - Throws: when the connection is closed, or more is written than was announced.
  func writeBody(_ bytes: ByteBuffer) throws -> EventLoopFuture<Void>? {
    guard context != nil else { throw ChannelError.ioOnClosedChannel }
    guard bytes.readableBytes > 0 else { return untilWritable() }
    clearSentBytes()
    switch response?.framing {
    case nil, .some(.none): return nil
    case .length(let length):
      guard bytes.readableBytes <= length else { throw ResponseTooLong() }
      response?.framing = .length(length - bytes.readableBytes)
      append(bytes)
      // Sent with what follows, unless it is much or the last.
      let isMuch = max(bytes.readableBytes, outbound.readableBytes) >= Self.copiedBytesMax
      if isMuch || length == bytes.readableBytes { flush() }
    case .chunked:
      outbound.writeChunkSize(bytes.readableBytes)
      append(bytes)
      outbound.writeStaticString("\r\n")
      flush()
    case .untilClose:
      append(bytes)
      flush()
    }
    return untilWritable()
  }

  /// - Returns: nil when the channel takes more bytes, or else a future that succeeds when it does, or is closed.
  func untilWritable() -> EventLoopFuture<Void>? {
    guard let context, !context.channel.isWritable else { return nil }
    setDeadline(service.timeouts.write)
    let promise = writable ?? loop.makePromise()
    writable = promise
    return promise.futureResult
  }

  /// Has `action` called for the response that is being written; at once when the client has ended its side already.
  func onClientEnd(_ action: @escaping @Sendable () -> Void) {
    response?.onClientEnd = action
    if context == nil || isInputClosed { action() }
  }

  private func append(_ bytes: ByteBuffer) {
    if bytes.readableBytes > Self.copiedBytesMax {
      passOn()
      context?.write(wrapOutboundOut(bytes), promise: nil)
    } else {
      outbound.writeImmutableBuffer(bytes)
    }
  }

  func endBody() {
    response?.hasEnded = true
    clearSentBytes()
    if case .chunked = response?.framing { outbound.writeStaticString("0\r\n\r\n") }
  }

  func end() {
    let isWhole =
      switch response?.framing {
      case .length(let missing)?: missing == 0 && response?.hasEnded == true
      default: response?.hasEnded == true
      }
    flush()
    guard isWhole else {
      // A client must not take what it has for the whole response.
      mustClose = true
      phase = .lingering
      return close()
    }
    guard body != nil, !mustClose else { return finishExchange() }
    endBodyStream(with: IncompleteRequest())
    phase = .discardingBody
    setDeadline(service.timeouts.head)
    advance()
  }

  /// Passes what was written to the channel.
  private func passOn() {
    guard outbound.readableBytes > 0 else { return }
    context?.write(wrapOutboundOut(outbound), promise: nil)
    outbound.moveReaderIndex(forwardBy: outbound.readableBytes)
  }

  /// Reuses the buffer, unless the channel still has bytes of it to send.
  private func clearSentBytes() {
    if outbound.readableBytes == 0 { outbound.clear(minimumCapacity: 1024) }
  }

  func flush() {
    passOn()
    context?.flush()
  }

  /// Responds to what is no request, or has not arrived in time, and closes.
  func refuse(_ failure: Failure) {
    mustClose = true
    inbound.clear()
    scannedBytes = 0
    begin(.refusal(service.refuse(failure)))
  }
}

/// A response had more bytes than its `Content-Length`.
private struct ResponseTooLong: Error {}

/// Writes the body of a response, from any thread. Each part waits until the client takes it.
struct ConnectionBodyWriter: ResponseBodyWriter {
  let connection: NIOLoopBound<HTTPConnection>
  let loop: any EventLoop

  mutating func write(_ buffer: ByteBuffer) async throws {
    let connection = connection
    let untilWritable =
      loop.inEventLoop
      ? try connection.value.writeBody(buffer)
      : try await loop.submit { try connection.value.writeBody(buffer) }.get()
    try await untilWritable?.get()
  }

  consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
    let connection = connection
    if loop.inEventLoop {
      connection.value.endBody()
    } else {
      try await loop.submit { connection.value.endBody() }.get()
    }
  }
}

extension ResponseBodyWriter {
  /// Has `action` called on the event loop when the client ends its side of the connection, and when the connection is
  /// closed. A client that has ended its side may still read: whether it does is known only after a further write.
  package func onClientEnd(_ action: @escaping @Sendable () -> Void) async throws {
    guard let writer = self as? ConnectionBodyWriter else { return }
    let connection = writer.connection
    if writer.loop.inEventLoop {
      connection.value.onClientEnd(action)
    } else {
      try await writer.loop.submit { connection.value.onClientEnd(action) }.get()
    }
  }
}
