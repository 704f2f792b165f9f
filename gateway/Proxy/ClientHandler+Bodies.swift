import NIOCore
import StrictHTTP
import Web
import Wire

/// Streaming of request bodies to a service that is connected.
extension ClientHandler {
  /// - Returns: false when nothing more can be forwarded now.
  func forwardBody(to upstream: UpstreamHandler) -> Bool {
    switch exchange?.remainingBody {
    case .length(let left):
      let count = min(left, inbound.readableBytes)
      guard count > 0, let piece = inbound.readSlice(length: count) else { return false }
      exchange?.bodyBytes += count
      exchange?.remainingBody = left == count ? .ended : .length(left - count)
      upstream.send(piece)
      guard left == count else { return true }
      upstream.flush()
      requestEnded()
      return true
    case .chunked(let decoder):
      forwardChunks(decoder, to: upstream)
      return true
    case .ended, nil: return false
    }
  }

  /// Forwards all received chunks as one chunk, so that a client that sends single bytes costs the service no more than
  /// any other.
  private func forwardChunks(_ decoder: ChunkedBodyDecoder, to upstream: UpstreamHandler) {
    var decoder = decoder
    var index = 0
    var data = ByteBuffer()
    let bytes = inbound
    let span = bytes.readableBytesUInt8Span
    do {
      while let part = try decoder.next(span, &index), case .data(let range) = part {
        guard var slice = bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) else { break }
        if data.readableBytes == 0 { data = slice } else { data.writeBuffer(&slice) }
      }
    } catch {
      return abortRequest(Failure(error))
    }
    inbound.moveReaderIndex(forwardBy: index)
    exchange?.bodyBytes += data.readableBytes
    exchange?.remainingBody = decoder.hasEnded ? .ended : .chunked(decoder)
    guard (exchange?.bodyBytes ?? 0) <= exchange?.route?.bodyBytesMax ?? 0 else { return abortRequest(.tooLarge) }
    if data.readableBytes > 0 {
      var size = ByteBuffer()
      size.writeChunkSize(data.readableBytes)
      upstream.send(size)
      upstream.send(data)
      upstream.send(ByteBuffer(staticString: decoder.hasEnded ? "\r\n0\r\n\r\n" : "\r\n"))
    } else if decoder.hasEnded {
      upstream.send(ByteBuffer(staticString: "0\r\n\r\n"))
    }
    guard decoder.hasEnded else { return }
    upstream.flush()
    requestEnded()
  }

  /// Called when the whole request has been written to the service.
  func requestEnded() {
    guard case .forwarding = phase else { return }
    releaseReservation()
    guard let exchange, exchange.status == nil else { return renewDeadline() }
    deadline = .now() + .seconds(exchange.route?.responseSeconds ?? 10)
  }

  /// Closes the upstream connection because the body is invalid, so that the service never receives the end of the
  /// body.
  private func abortRequest(_ failure: Failure) {
    guard case .forwarding(let upstream) = phase else { return }
    phase = .waiting
    upstream.close()
    exchange?.mustClose = true
    guard exchange?.status == nil else { return close() }
    refuse(failure)
  }

  /// - Returns: true; the phase changes when the whole body is discarded.
  func discardBody() -> Bool {
    guard let body = exchange?.remainingBody.discarding(&inbound) else {
      linger()
      return true
    }
    exchange?.remainingBody = body
    if body.hasEnded { finish() }
    return true
  }

  func discardRefusedBody(_ body: RemainingBody, until end: NIODeadline) {
    guard let body = body.discarding(&inbound), !body.hasEnded else { return linger() }
    phase = .discardingRefusedBody(body, until: end)
    deadline = min(end, .now() + gateway.timeouts.linger)
  }
}
