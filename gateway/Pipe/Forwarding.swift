import NIOCore
import StrictHTTP
import Wire

/// Writes the heads that go on: a fresh one for the service from what the client may say, a fresh one for the client
/// from what the service may say. Lines that pass are copied as they came, as many at once as lie together.
enum Forwarding {
  /// - Parameters:
  ///   - own: the lines that every request to this service carries: its host and the gateway's key.
  ///   - address: where the request comes from, as text.
  ///   - trace: what the client rightly says of a trace; its `tracestate` passes only beside that.
  ///   - tracing: the line of the span under which the service works; when it is empty, the client's passes.
  static func writeRequest(
    _ head: RequestHead, _ bytes: ByteBuffer, to out: inout ByteBuffer, own: [UInt8], caller: Caller,
    requestID: [UInt8], address: [UInt8], timeout: [UInt8], trace: SpanContext?, tracing: [UInt8]
  ) {
    let span = bytes.readableBytesSpan
    out.clear(minimumCapacity: head.byteCount + own.count + caller.lines.count + 256)
    out.writeString(head.method.rawValue)
    out.writeInteger(UInt8(ascii: " "))
    out.writeBytes(span.extracting(head.target.start..<head.target.end))
    out.writeStaticString(" HTTP/1.1\r\n")
    var run = Run()
    for field in head.fields.list where passes(field, hasTrace: trace != nil, isTraced: !tracing.isEmpty) {
      run.add(field.line, span, &out)
    }
    run.flush(span, &out)
    out.writeBytes(own)
    out.writeBytes(caller.lines)
    out.writeBytes(timeout)
    out.writeBytes(tracing)
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

  /// The bearer stays here: services believe what the gateway says of it.
  private static func passes(_ field: Fields.Field, hasTrace: Bool, isTraced: Bool) -> Bool {
    switch field.name {
    case .other, .contentType, .origin, .requestedMethod, .accessControl, .rateLimit, .contentSecurityPolicy,
      .contentTypeOptions, .referrerPolicy, .transportSecurity, .goTrueVersion:
      !field.isForThisHop
    case .traceparent: hasTrace && !isTraced
    case .tracestate: hasTrace
    case .host, .contentLength, .transferEncoding, .connection, .authorization, .expect, .upgrade, .hopByHop, .insider,
      .userID, .serviceKey, .endedSessions, .forwarding, .forwardedFor, .requestID:
      false
    }
  }

  /// The lines of an answer that may pass, behind its status line. Framing, ids and what the gateway adds follow.
  static func writeAnswer(_ head: ResponseHead, _ bytes: ByteBuffer, to out: inout ByteBuffer) {
    let span = bytes.readableBytesSpan
    out.writeStaticString("HTTP/1.1 ")
    out.writeBytes(span.extracting(head.statusLine.start..<head.statusLine.end))
    out.writeStaticString("\r\n")
    var run = Run()
    for field in head.fields.list where passesBack(field, of: head) { run.add(field.line, span, &out) }
    run.flush(span, &out)
  }

  private static func passesBack(_ field: Fields.Field, of head: ResponseHead) -> Bool {
    switch field.name {
    // RFC 9110 §8.6.
    case .contentLength where head.status == 204: false
    case .transferEncoding, .connection, .upgrade, .hopByHop, .insider, .userID, .serviceKey, .endedSessions,
      .requestID, .accessControl:
      false
    default: !field.isForThisHop
    }
  }

  /// Lines that lie together and pass together.
  private struct Run {
    private var start = 0
    private var end = 0

    mutating func add(_ line: Slice, _ span: RawSpan, _ out: inout ByteBuffer) {
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
