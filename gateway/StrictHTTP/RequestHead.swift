/// The head of one request, as strict as RFC 9112 can be read, and stricter where two programs could read a thing
/// differently. Everything stays where it is: what is kept are places in the bytes, counted from the head's first.
package struct RequestHead: Sendable {
  package enum Method: String, Sendable, CaseIterable {
    case GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS
  }

  package private(set) var method = Method.GET
  package private(set) var target = Slice(0, 0)
  /// The target up to the query.
  package private(set) var path = Slice(0, 0)
  package private(set) var isVersion10 = false
  package private(set) var fields = Fields()
  package private(set) var framing = Framing.none
  /// Whether the client wants to go on using the connection.
  package private(set) var keepsAlive = true
  /// The client holds its body back until it is told to go on (RFC 9110 §10.1.1).
  package private(set) var awaitsContinue = false
  /// How many bytes the head takes.
  package private(set) var byteCount = 0

  package init() {}

  /// Reads a head from the start of `bytes`.
  ///
  /// - Returns: false when the bytes end before the head does. Then it is read again from the start when more have come.
  package mutating func read(_ bytes: Span<UInt8>) throws(Refusal) -> Bool {
    fields.clear()
    guard let fieldsStart = try readLine(bytes) else { return try Self.incomplete(bytes) }
    guard let end = try fields.read(bytes, from: fieldsStart) else { return try Self.incomplete(bytes) }
    guard end <= Limits.headBytesMax else { throw .headTooLarge }
    byteCount = end
    try understand(bytes)
    return true
  }

  private static func incomplete(_ bytes: Span<UInt8>) throws(Refusal) -> Bool {
    guard bytes.count < Limits.headBytesMax else { throw .headTooLarge }
    return false
  }

  // MARK: The request line

  /// RFC 9112 §3, with single spaces only.
  private mutating func readLine(_ bytes: Span<UInt8>) throws(Refusal) -> Int? {
    guard let methodEnd = try Self.methodEnd(bytes) else { return nil }
    let targetStart = methodEnd + 1
    guard let targetEnd = try RequestTarget.end(bytes, from: targetStart) else { return nil }
    let end = targetEnd + 11
    guard try begins(bytes, at: targetEnd + 1, with: "HTTP/"), end <= bytes.count else { return nil }
    guard bytes[end - 5].isDigit, bytes[end - 4] == UInt8(ascii: "."), bytes[end - 3].isDigit,
      bytes[end - 2] == .carriageReturn, bytes[end - 1] == .lineFeed
    else { throw .malformed }
    guard bytes[end - 5] == UInt8(ascii: "1"), bytes[end - 3] <= UInt8(ascii: "1") else { throw .unsupportedVersion }
    isVersion10 = bytes[end - 3] == UInt8(ascii: "0")
    target = Slice(targetStart, targetEnd)
    path = Slice(targetStart, try RequestTarget.check(bytes, target))
    guard let method = Self.method(bytes, methodEnd) else { throw .unknownMethod }
    self.method = method
    return end
  }

  private static func methodEnd(_ bytes: Span<UInt8>) throws(Refusal) -> Int? {
    for index in 0..<min(bytes.count, Limits.methodBytesMax + 1) {
      if bytes[index] == 0x20 {
        guard index > 0 else { throw .malformed }
        return index
      }
      guard bytes[index].isOfName else { throw .malformed }
    }
    guard bytes.count <= Limits.methodBytesMax else { throw .malformed }
    return nil
  }

  private static func method(_ bytes: Span<UInt8>, _ end: Int) -> Method? {
    func isCalled(_ name: StaticString) -> Bool {
      name.utf8CodeUnitCount == end
        && name.withUTF8Buffer { wanted in
          for index in 0..<wanted.count where bytes[index] != wanted[index] { return false }
          return true
        }
    }
    switch bytes[0] {
    case UInt8(ascii: "G"): return isCalled("GET") ? .GET : nil
    case UInt8(ascii: "P"): return isCalled("POST") ? .POST : isCalled("PUT") ? .PUT : isCalled("PATCH") ? .PATCH : nil
    case UInt8(ascii: "D"): return isCalled("DELETE") ? .DELETE : nil
    case UInt8(ascii: "H"): return isCalled("HEAD") ? .HEAD : nil
    case UInt8(ascii: "O"): return isCalled("OPTIONS") ? .OPTIONS : nil
    default: return nil
    }
  }

  // MARK: What the fields mean together

  private mutating func understand(_ bytes: Span<UInt8>) throws(Refusal) {
    var framed = FramingFields()
    var hosts = 0
    var once: (type: Bool, authorization: Bool, connection: Bool) = (false, false, false)
    var (closes, asksToKeep) = (false, false)
    awaitsContinue = false
    for field in fields.list {
      switch field.name {
      case .host:
        hosts += 1
        try HostField.check(bytes, field.value)
      case .contentLength: try framed.readLength(bytes, field.value)
      case .transferEncoding: try framed.readCoding(bytes, field.value)
      case .contentType: try Self.only(&once.type)
      case .authorization: try Self.only(&once.authorization)
      case .expect:
        guard !awaitsContinue else { throw .malformed }
        guard same(bytes, field.value.start, field.value.end, "100-continue") else { throw .unexpectedExpectation }
        awaitsContinue = true
      case .upgrade:
        // No protocol but this one is spoken here yet; a WebSocket is at least asked for in good faith.
        throw same(bytes, field.value.start, field.value.end, "websocket") ? .webSocket : .malformed
      case .connection:
        try Self.only(&once.connection)
        (closes, asksToKeep) = try fields.readConnection(bytes, field.value)
      default: break
      }
    }
    // RFC 9112 §3.2: exactly one, which HTTP/1.0 did not know yet.
    guard hosts == 1 || (hosts == 0 && isVersion10) else { throw .malformed }
    framing = try framed.framing(else: .none)
    guard framing != .chunked || !isVersion10 else { throw .malformed }
    // A body that means nothing is a place to hide a request in.
    guard !framing.hasBody || (method != .GET && method != .HEAD) else { throw .malformed }
    keepsAlive = isVersion10 ? asksToKeep && !closes : !closes
    if isVersion10 || !framing.hasBody { awaitsContinue = false }
  }

  private static func only(_ seen: inout Bool) throws(Refusal) {
    guard !seen else { throw .malformed }
    seen = true
  }
}
