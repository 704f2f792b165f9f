import NIOCore

/// What only channels with addresses have, or which no handler passes on.
extension LocalChannel {
  package func localAddress0() throws -> SocketAddress { throw ChannelError.operationUnsupported }
  package func remoteAddress0() throws -> SocketAddress { throw ChannelError.operationUnsupported }
  package func register0(promise: EventLoopPromise<Void>?) { promise?.fail(ChannelError.operationUnsupported) }
  package func registerAlreadyConfigured0(promise: EventLoopPromise<Void>?) { register0(promise: promise) }
  package func bind0(to: SocketAddress, promise: EventLoopPromise<Void>?) { register0(promise: promise) }
  package func connect0(to: SocketAddress, promise: EventLoopPromise<Void>?) { register0(promise: promise) }
  package func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) {
    promise?.fail(ChannelError.operationUnsupported)
  }
  package func channelRead0(_ data: NIOAny) {}
  package func errorCaught0(error: any Error) {}
}
