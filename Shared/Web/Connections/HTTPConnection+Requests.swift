import HTTPTypes
import Hummingbird
import NIOCore
import StrictHTTP
import Wire

/// The way of requests: from bytes to the task that responds.
extension HTTPConnection {
  /// Bodies up to this size are received before the request begins, so that reading them never waits.
  private static let smallBodyBytesMax = 16 * 1024
  private static let continueLine: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"

  /// - Returns: false when more bytes are needed.
  func readHead() -> Bool {
    do {
      guard try hasWholeLine(), try head.read(inbound.readableBytesUInt8Span) else {
        if scannedBytes == 0 { setDeadline(service.timeouts.head) }
        scannedBytes = inbound.readableBytes
        return false
      }
    } catch {
      refuse(Failure(error))
      return true
    }
    scannedBytes = 0
    if !head.keepsAlive { mustClose = true }
    receiveRequest()
    return true
  }

  /// A head is parsed again only when a line has ended, so that a client that sends single bytes causes little work.
  private func hasWholeLine() throws(HTTPParseError) -> Bool {
    guard scannedBytes > 0, inbound.readableBytes < HTTPLimits.services.headBytesMax else { return true }
    return inbound.readableBytesView.dropFirst(scannedBytes).contains(UInt8(ascii: "\n"))
  }

  private func receiveRequest() {
    if case .length(let length) = head.framing, length <= Self.smallBodyBytesMax {
      phase = .buffering
      if !bufferBody() {
        sendContinueIfExpected()
        setDeadline(service.timeouts.body)
      }
    } else if head.framing.hasBody {
      sendContinueIfExpected()
      let stream = RequestBodyStream(to: self)
      let request = makeRequest(stream.body)
      body = RequestBodyDecoder(head.framing)
      bodyStream = stream
      inbound.moveReaderIndex(forwardBy: head.byteCount)
      respond(to: request)
    } else if !respondOnLoop() {
      let request = makeRequest(RequestBody(buffer: ByteBuffer()))
      inbound.moveReaderIndex(forwardBy: head.byteCount)
      respond(to: request)
    }
  }

  /// Begins the request once its small body is there.
  ///
  /// - Returns: false when more bytes are needed.
  func bufferBody() -> Bool {
    guard case .length(let length) = head.framing, inbound.readableBytes >= head.byteCount + length,
      let bytes = inbound.getSlice(at: inbound.readerIndex + head.byteCount, length: length)
    else { return false }
    let request = makeRequest(RequestBody(buffer: bytes))
    inbound.moveReaderIndex(forwardBy: head.byteCount + length)
    respond(to: request)
    return true
  }

  /// RFC 9110 §10.1.1.
  private func sendContinueIfExpected() {
    guard head.expectsContinue else { return }
    outbound.writeStaticString(Self.continueLine)
    flush()
  }

  func respond(to request: Request) {
    if let channel = context?.channel { begin(.request(request, channel)) }
  }

  /// The server stops. A request that has arrived and was not read yet is still responded to. One that is on its way is
  /// waited for only on a connection that was just opened, on which clients send at once.
  func quiesce() {
    mustClose = true
    guard case .idle = phase, inbound.readableBytes == 0 else { return }
    setDeadline(hasHadRequests ? service.timeouts.lastRead : service.timeouts.firstRequest)
  }

  // MARK: A body that is not small

  /// - Returns: false when no more bytes can be taken now.
  func receiveBody() -> Bool {
    guard body != nil, bodyStream?.wantsMore == true else { return false }
    do {
      let bytes = try body?.take(from: &inbound)
      bodyStream?.yield(bytes ?? ByteBuffer())
    } catch {
      endBodyStream(with: Failure.malformedRequest)
      return stopReceiving()
    }
    guard body?.hasEnded == true else { return false }
    body = nil
    endBodyStream()
    return false
  }

  /// - Parameter error: nil at the end of the body.
  func endBodyStream(with error: (any Error)? = nil) {
    bodyStream?.end(with: error)
    bodyStream = nil
  }

  /// Where the next request begins is not known.
  private func stopReceiving() -> Bool {
    mustClose = true
    body = nil
    inbound.clear()
    return false
  }

  func bodyReaderWantsMore() {
    guard bodyStream != nil else { return }
    bodyStream?.resume()
    advance()
  }

  /// - Returns: false when more bytes are needed.
  func discardBody() -> Bool {
    do { _ = try body?.take(from: &inbound) } catch {
      linger()
      return false
    }
    guard body?.hasEnded ?? true else { return false }
    finishExchange()
    return true
  }

  // MARK: The request

  private func makeRequest(_ body: RequestBody) -> Request {
    // Each use of a property of an object is checked when it is used.
    let (head, inbound) = (head, inbound)
    return Request(head, at: inbound, body)
  }
}

extension Request {
  /// - Parameter bytes: begins with the head.
  init(_ head: RequestHead, at bytes: ByteBuffer, _ body: RequestBody) {
    func text(_ slice: HeadSlice) -> String {
      bytes.getString(at: bytes.readerIndex + slice.start, length: slice.count) ?? ""
    }
    var fields = HTTPFields()
    fields.reserveCapacity(head.fields.list.count)
    var host: String?
    for field in head.fields.list {
      guard field.name != .host else {
        host = text(field.value)
        continue
      }
      let name = HeaderNames.name(of: field, in: bytes)
      if let name { fields.append(HTTPField(name: name, value: text(field.value))) }
    }
    self.init(
      head: HTTPRequest(
        method: head.method.asRequestMethod, scheme: "http", authority: host, path: text(head.target),
        headerFields: fields),
      body: body)
  }
}

extension RequestHead.Method {
  fileprivate var asRequestMethod: HTTPRequest.Method {
    switch self {
    case .GET: .get
    case .HEAD: .head
    case .POST: .post
    case .PUT: .put
    case .PATCH: .patch
    case .DELETE: .delete
    case .OPTIONS: .options
    }
  }
}
