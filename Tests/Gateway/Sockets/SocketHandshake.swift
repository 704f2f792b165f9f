/// The opening handshake of RFC 6455 §1.3: its key, and the answer to it.
enum SocketHandshake {
  static let key = "dGhlIHNhbXBsZSBub25jZQ=="
  static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

  static let lines = [
    "Host: kith.test", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: \(key)",
  ]

  /// The head of a request.
  static func head(_ behavior: SocketService.Behavior = .echo, _ others: String..., lines: [String] = lines) -> String {
    "GET /socket?\(behavior.rawValue) HTTP/1.1\r\n\((lines + others).map { $0 + "\r\n" }.joined())\r\n"
  }

  /// A Close frame that says that the service restarts (RFC 6455 §7.4.1, code 1012).
  static let restartFrame: [UInt8] = [0x88, 0x02, 0x03, 0xF4]

  /// A masked text frame of less than 64 KB, as a client sends it.
  static func frame(_ text: String) -> [UInt8] {
    let mask: [UInt8] = [1, 2, 3, 4]
    let payload = text.utf8.enumerated().map { $0.element ^ mask[$0.offset % 4] }
    let count = payload.count
    let length: [UInt8] =
      count < 126 ? [0x80 | UInt8(count)] : [0x80 | 126, UInt8(count >> 8), UInt8(count & 0xFF)]
    return [0x81] + length + mask + payload
  }
}
