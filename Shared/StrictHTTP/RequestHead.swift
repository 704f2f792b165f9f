/// Parses the head of a request by the strictest reading of RFC 9112, and stricter where two programs could interpret
/// the same bytes differently. It keeps positions in the bytes, counted from the first byte of the head; nothing is
/// copied.
package struct RequestHead: Sendable {
  package enum Method: String, Sendable, CaseIterable {
    case GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS
  }

  package private(set) var method = Method.GET
  package private(set) var target = HeadSlice(0, 0)
  /// The target without the query.
  package private(set) var path = HeadSlice(0, 0)
  package private(set) var isVersion10 = false
  package private(set) var fields = Fields()
  package private(set) var framing = Framing.none
  /// Whether the client wants to keep the connection open.
  package private(set) var keepsAlive = true
  /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
  package private(set) var expectsContinue = false
  /// Whether it asks to switch to the WebSocket protocol. ``webSocketHandshake(_:)`` judges the rest of the handshake.
  package private(set) var asksForWebSocket = false
  /// The size of the head in bytes.
  package private(set) var byteCount = 0

  private let limits: HTTPLimits

  package init(limits: HTTPLimits = .clients) { self.limits = limits }

  /// Reads a head from the start of `bytes`.
  ///
  /// - Returns: false when the head is incomplete. Then it has to be read again from the start when more bytes have
  ///   arrived.
  package mutating func read(_ bytes: Span<UInt8>) throws(HTTPParseError) -> Bool {
    fields.clear()
    guard let fieldsStart = try readRequestLine(bytes) else { return try incomplete(bytes) }
    guard let end = try fields.read(bytes, from: fieldsStart, limits) else { return try incomplete(bytes) }
    guard end <= limits.headBytesMax else { throw .headTooLarge }
    byteCount = end
    try interpretFields(bytes)
    return true
  }

  private func incomplete(_ bytes: Span<UInt8>) throws(HTTPParseError) -> Bool {
    guard bytes.count < limits.headBytesMax else { throw .headTooLarge }
    return false
  }

  // MARK: The request line

  /// RFC 9112 §3, with single spaces only.
  private mutating func readRequestLine(_ bytes: Span<UInt8>) throws(HTTPParseError) -> Int? {
    guard let methodEnd = try Self.methodEnd(bytes) else { return nil }
    let targetStart = methodEnd + 1
    guard let targetEnd = try RequestTarget.end(bytes, from: targetStart) else { return nil }
    let end = targetEnd + 11
    guard try matchesLiteral(bytes, at: targetEnd + 1, "HTTP/"), end <= bytes.count else { return nil }
    guard bytes[end - 5].isDigit, bytes[end - 4] == UInt8(ascii: "."), bytes[end - 3].isDigit,
      bytes[end - 2] == .carriageReturn, bytes[end - 1] == .lineFeed
    else { throw .malformed }
    guard bytes[end - 5] == UInt8(ascii: "1"), bytes[end - 3] <= UInt8(ascii: "1") else { throw .unsupportedVersion }
    isVersion10 = bytes[end - 3] == UInt8(ascii: "0")
    target = HeadSlice(targetStart, targetEnd)
    path = HeadSlice(targetStart, try RequestTarget.check(bytes, target))
    guard let method = Self.method(bytes, methodEnd) else { throw .unknownMethod }
    self.method = method
    return end
  }

  private static func methodEnd(_ bytes: Span<UInt8>) throws(HTTPParseError) -> Int? {
    for index in 0..<min(bytes.count, HTTPLimits.methodBytesMax + 1) {
      if bytes[index] == 0x20 {
        guard index > 0 else { throw .malformed }
        return index
      }
      guard bytes[index].isFieldNameByte else { throw .malformed }
    }
    guard bytes.count <= HTTPLimits.methodBytesMax else { throw .malformed }
    return nil
  }

  private static func method(_ bytes: Span<UInt8>, _ end: Int) -> Method? {
    func isMethod(_ name: StaticString) -> Bool {
      name.utf8CodeUnitCount == end
        && name.withUTF8Buffer { expected in
          for index in 0..<expected.count where bytes[index] != expected[index] { return false }
          return true
        }
    }
    switch bytes[0] {
    case UInt8(ascii: "G"): return isMethod("GET") ? .GET : nil
    case UInt8(ascii: "P"): return isMethod("POST") ? .POST : isMethod("PUT") ? .PUT : isMethod("PATCH") ? .PATCH : nil
    case UInt8(ascii: "D"): return isMethod("DELETE") ? .DELETE : nil
    case UInt8(ascii: "H"): return isMethod("HEAD") ? .HEAD : nil
    case UInt8(ascii: "O"): return isMethod("OPTIONS") ? .OPTIONS : nil
    default: return nil
    }
  }

  // MARK: Interpretation of the fields

  private mutating func interpretFields(_ bytes: Span<UInt8>) throws(HTTPParseError) {
    var framingFields = FramingFields()
    var hosts = 0
    var seen: (type: Bool, authorization: Bool, connection: Bool) = (false, false, false)
    var (closes, asksKeepAlive) = (false, false)
    expectsContinue = false
    asksForWebSocket = false
    for field in fields.list {
      switch field.name {
      case .host:
        hosts += 1
        try HostField.check(bytes, field.value)
      case .contentLength: try framingFields.readContentLength(bytes, field.value)
      case .transferEncoding: try framingFields.readTransferEncoding(bytes, field.value)
      case .contentType: try Self.requireFirst(&seen.type)
      case .authorization: try Self.requireFirst(&seen.authorization)
      case .expect:
        guard !expectsContinue else { throw .malformed }
        guard equalsIgnoringCase(bytes, field.value.start, field.value.end, "100-continue") else {
          throw .unexpectedExpectation
        }
        expectsContinue = true
      case .upgrade:
        // The only protocol that any path has.
        guard !asksForWebSocket, equalsIgnoringCase(bytes, field.value.start, field.value.end, "websocket") else {
          throw .malformed
        }
        asksForWebSocket = true
      case .connection:
        try Self.requireFirst(&seen.connection)
        (closes, asksKeepAlive) = try fields.readConnection(bytes, field.value)
      default: break
      }
    }
    // RFC 9112 §3.2: exactly one `Host`. HTTP/1.0 requires none.
    guard hosts == 1 || (hosts == 0 && isVersion10) else { throw .malformed }
    framing = try framingFields.framing(else: .none)
    guard framing != .chunked || !isVersion10 else { throw .malformed }
    // The body of a GET or HEAD has no meaning, and could conceal another request.
    guard !framing.hasBody || (method != .GET && method != .HEAD) else { throw .malformed }
    keepsAlive = isVersion10 ? asksKeepAlive && !closes : !closes
    if isVersion10 || !framing.hasBody { expectsContinue = false }
  }

  private static func requireFirst(_ seen: inout Bool) throws(HTTPParseError) {
    guard !seen else { throw .malformed }
    seen = true
  }
}
