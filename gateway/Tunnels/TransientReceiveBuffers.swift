import NIOCore

/// Sizes the receive buffers of a connection that is silent most of the time. The channel keeps none of them: thousands
/// of idle WebSockets would otherwise each hold the buffer of their last, perhaps large, message.
struct TransientReceiveBuffers: RecvByteBufferAllocator {
  private static let sizes = 512...64 * 1024
  private var size = TransientReceiveBuffers.sizes.lowerBound

  func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { allocator.buffer(capacity: size) }

  /// - Returns: true, which keeps the channel from reusing its last buffer.
  mutating func record(actualReadBytes: Int) -> Bool {
    if actualReadBytes >= size {
      size = min(size * 4, Self.sizes.upperBound)
    } else if actualReadBytes < size / 4 {
      size = max(size / 4, Self.sizes.lowerBound)
    }
    return true
  }
}

extension Channel {
  /// Sets what both ends of a tunnel have in common. Called on the event loop.
  func becomeTunnelEnd() {
    // `try?`: a channel that is closed needs no options.
    try? syncOptions?.setOption(.recvAllocator, value: TransientReceiveBuffers())
    try? syncOptions?.setOption(.maxMessagesPerRead, value: 1)
    try? syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
  }
}

extension ChannelHandlerContext {
  /// Ends the sending side when all that was written has been sent.
  ///
  /// - Parameter isInputClosed: whether the peer has ended its side. NIO then closes the channel at once, without
  ///   sending what waits, so that is awaited first.
  func endOutput(isInputClosed: Bool) {
    guard isInputClosed else { return close(mode: .output, promise: nil) }
    let sent = eventLoop.makePromise(of: Void.self)
    let channel = channel
    sent.futureResult.whenComplete { _ in channel.close(promise: nil) }
    writeAndFlush(NIOAny(ByteBuffer()), promise: sent)
  }
}
