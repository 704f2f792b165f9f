/// Follows the frames of a WebSocket (RFC 6455 §5.2) through pieces of any size, to know where a frame of the gateway
/// can be inserted. It reads the headers only.
struct FrameBoundary: Sendable {
  private var payloadLeft: UInt64 = 0
  /// How many bytes of the header are still to come; 0 between two frames and within a payload.
  private var headerLeft: UInt8 = 0
  private var lengthLeft: UInt8 = 0
  private var isFirstByteRead = false
  /// Whether a Close frame has begun. Nothing may follow it.
  private(set) var hasClosed = false

  /// A Close frame (RFC 6455 §5.5.1) of a server, with the code for a restart (1012).
  static let restartFrame: [UInt8] = [0x88, 0x02, 0x03, 0xF4]
  private static let closeOpcode: UInt8 = 0x8

  /// Whether the last frame is complete.
  var isReached: Bool { payloadLeft == 0 && headerLeft == 0 && !isFirstByteRead }

  /// Whether a frame can be inserted now.
  var allowsFrame: Bool { isReached && !hasClosed }

  /// Follows all the bytes.
  mutating func advance(over bytes: Span<UInt8>) {
    var index = 0
    while index < bytes.count { step(bytes, &index) }
  }

  /// Follows the bytes up to the next end of a frame.
  ///
  /// - Returns: how many bytes belong to the frame; all of them when it does not end here.
  mutating func advanceToEnd(in bytes: Span<UInt8>) -> Int {
    var index = 0
    while index < bytes.count, !isReached { step(bytes, &index) }
    return index
  }

  private mutating func step(_ bytes: Span<UInt8>, _ index: inout Int) {
    guard payloadLeft == 0 else {
      let count = min(payloadLeft, UInt64(bytes.count - index))
      payloadLeft -= count
      // At most what is there.
      index += Int(count)
      return
    }
    readHeader(bytes[index])
    index += 1
  }

  private mutating func readHeader(_ byte: UInt8) {
    if headerLeft == 0, !isFirstByteRead {
      isFirstByteRead = true
      if byte & 0x0F == Self.closeOpcode { hasClosed = true }
    } else if isFirstByteRead {
      isFirstByteRead = false
      let length = byte & 0x7F
      lengthLeft = length == 126 ? 2 : length == 127 ? 8 : 0
      pendingLength = lengthLeft == 0 ? UInt64(length) : 0
      headerLeft = lengthLeft + (byte & 0x80 == 0 ? 0 : 4)
      if headerLeft == 0 { payloadLeft = pendingLength }
    } else {
      if lengthLeft > 0 {
        lengthLeft -= 1
        pendingLength = pendingLength << 8 | UInt64(byte)
      }
      headerLeft -= 1
      if headerLeft == 0 { payloadLeft = pendingLength }
    }
  }

  /// The length of the payload, while its header is read.
  private var pendingLength: UInt64 = 0
}
