import NIOCore
import StrictHTTP
import Wire

/// Buffering of small bodies. A connection to the service is chosen only when the whole body has arrived, so that slow
/// clients hold no upstream connections. Larger bodies are streamed, and the number of streams is limited.
extension ClientHandler {
  /// As received, with chunk framing. Few bodies are larger: photos, and the order of a whole list.
  static let smallBodyBytesMax = 64 * 1024

  /// What `inbound` has of a body.
  private enum BufferedBody {
    case complete
    case incomplete
    /// Too large to be buffered.
    case large
    case invalid(Failure)
  }

  func forward(_ route: Route) {
    guard !loop.pool(of: route.service).isEmpty else { return refuse(.unavailable) }
    if let failure = reserveSocket() { return refuse(failure) }
    guard let exchange, !exchange.requestEnded else { return send(to: route) }
    deadline = .now() + .seconds(route.bodySeconds)
    self.exchange?.bodyDeadline = deadline
    // The caller then calls `advance()`, which processes what has arrived of the body.
    phase = .buffering
  }

  /// - Returns: false when more bytes are needed.
  func bufferBody() -> Bool {
    guard let route = exchange?.route else { return false }
    switch bufferedBody(route) {
    case .complete:
      releaseReservation()
      exchange?.isBodyBuffered = true
      exchange?.expectsContinue = false
      send(to: route)
    case .incomplete: return reserveMemory()
    case .large: stream(to: route)
    case .invalid(let failure):
      exchange?.mustClose = true
      refuse(failure)
    }
    return true
  }

  private func bufferedBody(_ route: Route) -> BufferedBody {
    let received = inbound.readableBytes - head.byteCount
    switch exchange?.remainingBody {
    case .length(let length) where length > Self.smallBodyBytesMax: return .large
    case .length(let length): return received >= length ? .complete : .incomplete
    case .chunked: return scanChunks(received, route)
    case .ended, nil: return .complete
    }
  }

  /// Validates the chunks that have arrived since the last call. They stay in `inbound`.
  private func scanChunks(_ received: Int, _ route: Route) -> BufferedBody {
    var scan = exchange?.chunkScan ?? ChunkScan()
    var index = head.byteCount + scan.rawBytes
    let bytes = inbound
    let span = bytes.readableBytesUInt8Span
    do {
      while let part = try scan.decoder.next(span, &index), case .data(let range) = part {
        scan.bodyBytes += range.count
      }
    } catch {
      return .invalid(Failure(error))
    }
    scan.rawBytes = index - head.byteCount
    exchange?.chunkScan = scan
    guard scan.bodyBytes <= route.bodyBytesMax else { return .invalid(.tooLarge) }
    if scan.decoder.hasEnded { return .complete }
    return received < Self.smallBodyBytesMax ? .incomplete : .large
  }

  /// - Returns: whether the request was refused, because the budget is used up.
  private func reserveMemory() -> Bool {
    if let failure = reserve({ gateway.bodyBudget.reserveMemory(inbound.readableBytes, &$0) }) {
      refuse(failure)
      return true
    }
    trimInbound()
    sendContinue()
    return false
  }

  /// Copies a few bytes out of a large buffer: the channel allocates buffers as large as its recent reads were.
  private func trimInbound() {
    guard inbound.storageCapacity > 2 * max(inbound.readableBytes, 2048) else { return }
    var fitting = ByteBuffer()
    fitting.reserveCapacity(inbound.readableBytes)
    fitting.writeImmutableBuffer(inbound)
    inbound = fitting
  }

  private func stream(to route: Route) {
    if let failure = reserve({ gateway.bodyBudget.reserveStream(to: route.service, &$0) }) { return refuse(failure) }
    sendContinue()
    // Writing may have closed the connection.
    guard case .buffering = phase else { return }
    send(to: route)
  }

  private func sendContinue() {
    guard exchange?.expectsContinue == true else { return }
    exchange?.expectsContinue = false
    context?.writeAndFlush(wrapOutboundOut(ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
  }

  // MARK: Budget

  private func reserve(_ change: (inout RequestBodyBudget.Reservation) -> Failure?) -> Failure? {
    var reservation = exchange?.reservation ?? RequestBodyBudget.Reservation(clientAddress(head).address)
    let failure = change(&reservation)
    exchange?.reservation = reservation
    return failure
  }

  /// Called when the whole body has arrived, or when its exchange ends.
  func releaseReservation() {
    guard let reservation = exchange?.reservation else { return }
    exchange?.reservation = nil
    gateway.bodyBudget.release(reservation)
  }
}

/// The state of validating a chunked body while it is buffered.
struct ChunkScan {
  var decoder = ChunkedBodyDecoder()
  /// With chunk framing.
  var rawBytes = 0
  var bodyBytes = 0
}
