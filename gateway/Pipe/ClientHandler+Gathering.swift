import NIOCore
import StrictHTTP
import Wire

/// Small bodies are gathered before a connection to the service is chosen: a client that sends slowly keeps none from the
/// others. Larger bodies stream, and only so many of them at once.
extension ClientHandler {
  /// As they come, with what is around chunks. Few are larger: photos, and the order of a whole list.
  static let smallBodyBytesMax = 64 * 1024

  private enum Arrival {
    case whole
    case unfinished
    /// More than is gathered.
    case large
    case refused(Failure)
  }

  func forward(_ route: Route) {
    guard !loop.pool(of: route.service).isEmpty else { return refuse(.unavailable) }
    guard let exchange, !exchange.requestEnded else { return send(to: route) }
    deadline = .now() + .seconds(route.bodySeconds)
    self.exchange?.bodyDeadline = deadline
    // Whoever called this goes on to look at what there is of the body.
    phase = .gathering
  }

  /// - Returns: false when more must come first.
  func gather() -> Bool {
    guard let route = exchange?.route else { return false }
    switch arrival(route) {
    case .whole:
      releaseHold()
      exchange?.isBodyHere = true
      exchange?.awaitsContinue = false
      send(to: route)
    case .unfinished: return makeRoom()
    case .large: stream(to: route)
    case .refused(let failure):
      exchange?.mustClose = true
      refuse(failure)
    }
    return true
  }

  private func arrival(_ route: Route) -> Arrival {
    let here = inbound.readableBytes - head.byteCount
    switch exchange?.body {
    case .length(let length) where length > Self.smallBodyBytesMax: return .large
    case .length(let length): return here >= length ? .whole : .unfinished
    case .chunked: return arrivalOfChunks(here, route)
    case .ended, nil: return .whole
    }
  }

  /// Looks at the chunks that have come since the last time. They stay where they are.
  private func arrivalOfChunks(_ here: Int, _ route: Route) -> Arrival {
    var seen = exchange?.chunksSeen ?? ChunksSeen()
    var index = head.byteCount + seen.rawBytes
    let bytes = inbound
    let span = bytes.readableBytesUInt8Span
    do {
      while let piece = try seen.chunks.next(span, &index), case .data(let range) = piece {
        seen.bodyBytes += range.count
      }
    } catch {
      return .refused(Failure(error))
    }
    seen.rawBytes = index - head.byteCount
    exchange?.chunksSeen = seen
    guard seen.bodyBytes <= route.bodyBytesMax else { return .refused(.tooLarge) }
    if seen.chunks.hasEnded { return .whole }
    return here < Self.smallBodyBytesMax ? .unfinished : .large
  }

  /// - Returns: whether the request is over, for lack of room.
  private func makeRoom() -> Bool {
    if let failure = hold({ gateway.bodies.gather(inbound.readableBytes, &$0) }) {
      refuse(failure)
      return true
    }
    trimInbound()
    sayContinue()
    return false
  }

  /// What is read into is as large as the connection's reads have been: too much to be kept for a few bytes.
  private func trimInbound() {
    guard inbound.storageCapacity > 2 * max(inbound.readableBytes, 2048) else { return }
    var fitting = ByteBuffer()
    fitting.reserveCapacity(inbound.readableBytes)
    fitting.writeImmutableBuffer(inbound)
    inbound = fitting
  }

  private func stream(to route: Route) {
    if let failure = hold({ gateway.bodies.stream(to: route.service, &$0) }) { return refuse(failure) }
    sayContinue()
    // The client may have turned out to be gone.
    guard case .gathering = phase else { return }
    send(to: route)
  }

  private func sayContinue() {
    guard exchange?.awaitsContinue == true else { return }
    exchange?.awaitsContinue = false
    context?.writeAndFlush(wrapOutboundOut(ByteBuffer(staticString: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
  }

  // MARK: What it takes

  private func hold(_ change: (inout UnfinishedBodies.Hold) -> Failure?) -> Failure? {
    var hold = exchange?.hold ?? UnfinishedBodies.Hold(address(head).address)
    let failure = change(&hold)
    exchange?.hold = hold
    return failure
  }

  /// The body is here, or its exchange is over.
  func releaseHold() {
    guard let hold = exchange?.hold else { return }
    exchange?.hold = nil
    gateway.bodies.release(hold)
  }
}

/// How much of a chunked body has been looked at.
struct ChunksSeen {
  var chunks = ChunkedBody()
  /// With the lines around the chunks.
  var rawBytes = 0
  var bodyBytes = 0
}
