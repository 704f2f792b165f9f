/// Parses the head of a response of a service. A compromised service must not be able to break the gateway, nor to
/// inject a response for another client.
package struct ResponseHead: Sendable {
  package private(set) var status = 0
  /// The status code and the reason phrase, as received.
  package private(set) var statusLine = HeadSlice(0, 0)
  package private(set) var fields = Fields()
  package private(set) var framing = Framing.none
  /// The value of `Content-Length`, also where there is no body, as in the response to HEAD.
  package private(set) var declaredLength: Int?
  package private(set) var keepsAlive = true
  package private(set) var byteCount = 0

  package init() {}

  /// - Parameter isForHEAD: whether the request was a HEAD, so that the response has no body (RFC 9112 §6.3).
  /// - Returns: false when the head is incomplete.
  package mutating func read(_ bytes: Span<UInt8>, isForHEAD: Bool) throws(HTTPParseError) -> Bool {
    fields.clear()
    guard let fieldsStart = try readStatusLine(bytes),
      let end = try fields.read(bytes, from: fieldsStart, HTTPLimits.clients)
    else {
      guard bytes.count < HTTPLimits.clients.headBytesMax else { throw .headTooLarge }
      return false
    }
    guard end <= HTTPLimits.clients.headBytesMax else { throw .headTooLarge }
    byteCount = end
    try interpretFields(bytes, isForHEAD)
    return true
  }

  /// RFC 9112 §4.
  private mutating func readStatusLine(_ bytes: Span<UInt8>) throws(HTTPParseError) -> Int? {
    guard try matchesLiteral(bytes, at: 0, "HTTP/1.") else { return nil }
    var end = 9
    while end < bytes.count, bytes[end].isFieldValueByte { end += 1 }
    guard end + 1 < bytes.count else { return nil }
    guard end >= 12, bytes[end] == .carriageReturn, bytes[end + 1] == .lineFeed, bytes[7].isDigit, bytes[8] == 0x20,
      bytes[9].isDigit, bytes[10].isDigit, bytes[11].isDigit, end == 12 || bytes[12] == 0x20
    else { throw .malformed }
    status = Int(bytes[9] &- 0x30) * 100 + Int(bytes[10] &- 0x30) * 10 + Int(bytes[11] &- 0x30)
    guard (100...599).contains(status) else { throw .malformed }
    keepsAlive = bytes[7] == UInt8(ascii: "1")
    statusLine = HeadSlice(9, end)
    return end + 2
  }

  private mutating func interpretFields(_ bytes: Span<UInt8>, _ isForHEAD: Bool) throws(HTTPParseError) {
    var framingFields = FramingFields()
    for field in fields.list {
      switch field.name {
      case .contentLength: try framingFields.readContentLength(bytes, field.value)
      case .transferEncoding: try framingFields.readTransferEncoding(bytes, field.value)
      case .connection:
        let connection = try fields.readConnection(bytes, field.value)
        keepsAlive = keepsAlive ? !connection.closes : connection.keepsAlive
      default: break
      }
    }
    let declared = try framingFields.framing(else: .untilClose)
    declaredLength = framingFields.length
    framing = isForHEAD || status < 200 || status == 204 || status == 304 ? .none : declared
  }
}
