import NIOCore

/// Sizes the receive buffers of a connection that is silent most of the time. The channel keeps none of them but the
/// first: thousands of idle WebSockets would otherwise each hold the buffer of their last, perhaps large, message.
package struct TransientReceiveBuffers: RecvByteBufferAllocator {
  /// From a small one on, as the channel keeps the buffer of its first read for good.
  private static let sizes = 128...64 * 1024
  private var size = TransientReceiveBuffers.sizes.lowerBound

  package init() {}

  package func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { allocator.buffer(capacity: size) }

  /// - Returns: true, which keeps the channel from reusing its last buffer.
  package mutating func record(actualReadBytes: Int) -> Bool {
    if actualReadBytes >= size {
      size = min(size * 4, Self.sizes.upperBound)
    } else if actualReadBytes < size / 4 {
      size = max(size / 4, Self.sizes.lowerBound)
    }
    return true
  }
}

extension Channel {
  /// From now on no buffer is kept but that of the first read. Called on the event loop.
  package func useTransientReceiveBuffers() {
    // `try?`: a channel that is closed needs no options.
    try? syncOptions?.setOption(.recvAllocator, value: TransientReceiveBuffers())
    // As many buffers would be kept.
    try? syncOptions?.setOption(.maxMessagesPerRead, value: 1)
  }

  /// What NIO uses by default.
  func useReusedReceiveBuffers() {
    // `try?`: as above.
    try? syncOptions?.setOption(.recvAllocator, value: AdaptiveRecvByteBufferAllocator())
    try? syncOptions?.setOption(.maxMessagesPerRead, value: 4)
  }
}
