/// What a request on the path of a WebSocket asks for.
package enum WebSocketHandshake: Sendable {
  /// A valid opening handshake; the value of `Sec-WebSocket-Key`.
  case valid(key: HeadSlice)
  /// No switch of protocols at all, or a version other than 13 (RFC 6455 §4.2.2 and §4.4).
  case notThisVersion
  /// A switch of protocols without what an opening handshake must have.
  case malformed
}

extension RequestHead {
  /// Judges the opening handshake of a WebSocket (RFC 6455 §4.2.1).
  ///
  /// - Parameter bytes: those of this head.
  package func webSocketHandshake(_ bytes: Span<UInt8>) -> WebSocketHandshake {
    guard asksForWebSocket else { return .notThisVersion }
    // A client that announces that it closes the connection cannot mean to go on with another protocol.
    guard method == .GET, !isVersion10, keepsAlive, fields.only(.upgrade)?.isConnectionOption == true,
      let version = fields.only(.webSocketVersion)?.value, let key = fields.only(.webSocketKey)?.value,
      isWebSocketKey(bytes, key)
    else { return .malformed }
    guard equalsIgnoringCase(bytes, version.start, version.end, "13") else { return .notThisVersion }
    return .valid(key: key)
  }
}

extension ResponseHead {
  /// Whether the service completes the opening handshake of a WebSocket (RFC 6455 §4.1).
  ///
  /// - Parameters:
  ///   - bytes: those of this head.
  ///   - accept: the value of `Sec-WebSocket-Accept` that answers the key of the request.
  package func completesWebSocketHandshake(_ bytes: Span<UInt8>, accept: [UInt8]) -> Bool {
    guard status == 101, !fields.contains(.contentLength), !fields.contains(.transferEncoding),
      let upgrade = fields.only(.upgrade), upgrade.isConnectionOption,
      equalsIgnoringCase(bytes, upgrade.value.start, upgrade.value.end, "websocket"),
      let value = fields.only(.webSocketAccept)?.value, value.count == accept.count
    else { return false }
    for index in accept.indices where bytes[value.start + index] != accept[index] { return false }
    return true
  }
}

/// Whether the value is the canonical base64 text of 16 bytes (RFC 6455 §4.1, RFC 4648 §3.5).
private func isWebSocketKey(_ bytes: Span<UInt8>, _ value: HeadSlice) -> Bool {
  guard value.count == 24 else { return false }
  let padding = UInt8(ascii: "=")
  guard bytes[value.end - 2] == padding, bytes[value.end - 1] == padding else { return false }
  for index in value.start..<value.end - 2 where !bytes[index].isBase64Digit { return false }
  // The last digit has two bits of the sixteenth byte, and four that are zero.
  switch bytes[value.end - 3] {
  case UInt8(ascii: "A"), UInt8(ascii: "Q"), UInt8(ascii: "g"), UInt8(ascii: "w"): return true
  default: return false
  }
}

extension UInt8 {
  fileprivate var isBase64Digit: Bool {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
