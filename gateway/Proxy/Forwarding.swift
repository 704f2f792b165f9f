import NIOCore
import StrictHTTP
import Web
import Wire

/// Writes the heads that are forwarded: a new request head with the fields that clients may set, and a new response
/// head with the fields that services may set. Forwarded lines are copied unchanged, adjacent lines at once.
enum Forwarding {
  /// - Parameters:
  ///   - endpointHeaders: the header lines of every request to this endpoint: `Host` and the gateway's service key.
  ///   - address: the client address as text.
  ///   - forwardsBearer: whether the service gets `Authorization` too.
  ///   - isWebSocket: whether the head is an opening handshake, whose own fields are forwarded as they are.
  ///   - clientSpan: the span that the client names, if valid; without it the client's `tracestate` is not forwarded.
  ///   - traceparentHeader: the header line of the gateway's span; when it is empty, the client's `traceparent` is
  ///     forwarded.
  static func writeRequest(
    _ head: RequestHead, _ bytes: ByteBuffer, to out: inout ByteBuffer, endpointHeaders: [UInt8], caller: Caller,
    requestID: [UInt8], address: [UInt8], timeoutHeader: [UInt8], forwardsBearer: Bool, isWebSocket: Bool,
    clientSpan: SpanContext?, traceparentHeader: [UInt8]
  ) {
    let span = bytes.readableBytesSpan
    out.clear(minimumCapacity: head.byteCount + endpointHeaders.count + caller.headerLines.count + 256)
    out.writeString(head.method.rawValue)
    out.writeInteger(UInt8(ascii: " "))
    out.writeBytes(span.extracting(head.target.start..<head.target.end))
    out.writeStaticString(" HTTP/1.1\r\n")
    var lines = AdjacentLines()
    let (hasTrace, isTraced) = (clientSpan != nil, !traceparentHeader.isEmpty)
    for field in head.fields.list {
      guard field.name == .authorization ? forwardsBearer : isForwarded(field, hasTrace: hasTrace, isTraced: isTraced)
      else { continue }
      lines.add(field.line, span, &out)
    }
    lines.flush(span, &out)
    out.writeBytes(endpointHeaders)
    out.writeBytes(caller.headerLines)
    out.writeBytes(timeoutHeader)
    out.writeBytes(traceparentHeader)
    if isWebSocket { out.writeStaticString("upgrade: websocket\r\nconnection: Upgrade\r\n") }
    out.writeStaticString("x-request-id: ")
    out.writeBytes(requestID)
    out.writeStaticString("\r\nx-forwarded-for: ")
    out.writeBytes(address)
    switch head.framing {
    case .length(let length):
      out.writeStaticString("\r\ncontent-length: ")
      out.writeDecimal(length)
      out.writeStaticString("\r\n\r\n")
    case .chunked: out.writeStaticString("\r\ntransfer-encoding: chunked\r\n\r\n")
    case .none, .untilClose: out.writeStaticString("\r\n\r\n")
    }
  }

  /// Whether a request field is forwarded. `Authorization` is not, unless the route says so: services get the verified
  /// caller in other headers.
  private static func isForwarded(_ field: Fields.Field, hasTrace: Bool, isTraced: Bool) -> Bool {
    switch field.name {
    case .other, .contentType, .origin, .requestedMethod, .accessControl, .rateLimit, .contentSecurityPolicy,
      .contentTypeOptions, .referrerPolicy, .transportSecurity, .goTrueVersion, .webSocketKey, .webSocketVersion,
      .webSocketAccept:
      !field.isConnectionOption
    case .traceparent: hasTrace && !isTraced
    case .tracestate: hasTrace
    case .host, .contentLength, .transferEncoding, .connection, .authorization, .expect, .upgrade, .hopByHop,
      .internalOnly, .userID, .serviceKey, .endedSessions, .forwardedMetadata, .forwardedFor, .requestID:
      false
    }
  }

  /// Writes the status line and the fields of a response that are forwarded. The caller adds framing, ids, and the
  /// gateway's own headers.
  static func writeResponse(_ head: ResponseHead, _ bytes: ByteBuffer, to out: inout ByteBuffer) {
    let span = bytes.readableBytesSpan
    out.writeStaticString("HTTP/1.1 ")
    out.writeBytes(span.extracting(head.statusLine.start..<head.statusLine.end))
    out.writeStaticString("\r\n")
    var lines = AdjacentLines()
    for field in head.fields.list where isForwarded(field, of: head) { lines.add(field.line, span, &out) }
    lines.flush(span, &out)
  }

  /// Whether a response field is forwarded.
  private static func isForwarded(_ field: Fields.Field, of head: ResponseHead) -> Bool {
    switch field.name {
    // RFC 9110 §8.6.
    case .contentLength where head.status == 204: false
    case .transferEncoding, .connection, .upgrade, .hopByHop, .internalOnly, .userID, .serviceKey, .endedSessions,
      .requestID, .accessControl:
      false
    default: !field.isConnectionOption
    }
  }

  /// Collects forwarded lines that are adjacent in the source, to copy them at once.
  private struct AdjacentLines {
    private var start = 0
    private var end = 0

    mutating func add(_ line: HeadSlice, _ span: RawSpan, _ out: inout ByteBuffer) {
      if line.start != end {
        flush(span, &out)
        start = line.start
      }
      end = line.end
    }

    func flush(_ span: RawSpan, _ out: inout ByteBuffer) {
      if start < end { out.writeBytes(span.extracting(start..<end)) }
    }
  }
}
