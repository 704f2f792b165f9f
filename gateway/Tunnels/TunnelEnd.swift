import NIOCore
import Web

extension Channel {
  /// Sets what both ends of a tunnel have in common. Called on the event loop.
  func becomeTunnelEnd() {
    useTransientReceiveBuffers()
    // `try?`: a channel that is closed needs no options.
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
