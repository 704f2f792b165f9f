/// The head of a service's answer. Services are our own, but one that has been broken into must not be able to break
/// the gateway, nor to end one client's answer early and begin another's.
package struct ResponseHead: Sendable {
  package private(set) var status = 0
  /// The status code and the reason, as they came.
  package private(set) var statusLine = Slice(0, 0)
  package private(set) var fields = Fields()
  package private(set) var framing = Framing.none
  /// What `Content-Length` says, also where there is no body, as in the answer to HEAD.
  package private(set) var declaredLength: Int?
  package private(set) var keepsAlive = true
  package private(set) var byteCount = 0

  package init() {}

  /// - Parameter isToHead: the answer to HEAD has no body, whatever its fields say (RFC 9112 §6.3).
  /// - Returns: false when the bytes end before the head does.
  package mutating func read(_ bytes: Span<UInt8>, isToHead: Bool) throws(Refusal) -> Bool {
    fields.clear()
    guard let fieldsStart = try readLine(bytes), let end = try fields.read(bytes, from: fieldsStart) else {
      guard bytes.count < Limits.headBytesMax else { throw .headTooLarge }
      return false
    }
    guard end <= Limits.headBytesMax else { throw .headTooLarge }
    byteCount = end
    try understand(bytes, isToHead)
    return true
  }

  /// RFC 9112 §4.
  private mutating func readLine(_ bytes: Span<UInt8>) throws(Refusal) -> Int? {
    guard try begins(bytes, at: 0, with: "HTTP/1.") else { return nil }
    var end = 9
    while end < bytes.count, bytes[end].isOfValue { end += 1 }
    guard end + 1 < bytes.count else { return nil }
    guard end >= 12, bytes[end] == .carriageReturn, bytes[end + 1] == .lineFeed, bytes[7].isDigit, bytes[8] == 0x20,
      bytes[9].isDigit, bytes[10].isDigit, bytes[11].isDigit, end == 12 || bytes[12] == 0x20
    else { throw .malformed }
    status = Int(bytes[9] &- 0x30) * 100 + Int(bytes[10] &- 0x30) * 10 + Int(bytes[11] &- 0x30)
    guard (100...599).contains(status) else { throw .malformed }
    keepsAlive = bytes[7] == UInt8(ascii: "1")
    statusLine = Slice(9, end)
    return end + 2
  }

  private mutating func understand(_ bytes: Span<UInt8>, _ isToHead: Bool) throws(Refusal) {
    var framed = FramingFields()
    for field in fields.list {
      switch field.name {
      case .contentLength: try framed.readLength(bytes, field.value)
      case .transferEncoding: try framed.readCoding(bytes, field.value)
      case .connection:
        let said = try fields.readConnection(bytes, field.value)
        keepsAlive = keepsAlive ? !said.closes : said.keepsAlive
      default: break
      }
    }
    let said = try framed.framing(else: .untilClose)
    declaredLength = framed.length
    framing = isToHead || status < 200 || status == 204 || status == 304 ? .none : said
  }
}
