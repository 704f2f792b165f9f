import NIOCore
import Synchronization

/// One end of a connection within this process: what is written to it is read from the other end, without a copy and
/// without a system call. Both ends belong to one event loop.
///
/// It behaves as a TCP channel of NIO does. A read is asked for, and gets what has arrived; a channel whose peer reads
/// slowly is not writable; either end can end its output and still read. As the kernel does, the peer's end takes some
/// bytes before they are read: a write succeeds when it is among these. What was sent before the close is still read.
/// Neither end has an address.
///
/// `@unchecked Sendable`: NIO calls a `ChannelCore` on its event loop only. What other threads may read are two atomic
/// flags and constants.
package final class LocalChannel: Channel, ChannelCore, @unchecked Sendable {
  private struct Message {
    let bytes: ByteBuffer
    let promise: EventLoopPromise<Void>?
  }

  package let eventLoop: any EventLoop
  package let allocator = ByteBufferAllocator()
  private let closed: EventLoopPromise<Void>
  private let isOpen = Atomic(true)
  private let hasRoom = Atomic(true)
  /// Made with `self`, so that it is nil for a moment.
  private var madePipeline: ChannelPipeline?
  /// nil when one of the two is closed.
  private var peer: LocalChannel?
  /// Not flushed yet.
  private var written = CircularBuffer<Message>()
  private var writtenBytes = 0
  /// Flushed by the peer, and not read yet.
  private var received = CircularBuffer<Message>()
  private var receivedBytes = 0
  /// The peer sends nothing after what is in `received`.
  private var isEndReceived = false
  private var isInputEnded = false
  private var isOutputEnded = false
  private var isReadWanted = false
  private var isDeliveryDue = false
  private var autoRead: Bool
  private var allowsHalfClosure: Bool

  /// So many bytes count as sent before they are read.
  private static let acceptedBytesMax = 64 * 1024
  /// One read gets so many: what follows waits for the next, so that who cannot pass them on reads no further.
  private static let readBytesMax = 256 * 1024
  /// As in `ChannelOptions.Types.WriteBufferWaterMark`, in bytes that are not read.
  private static let unreadBytesHigh = 64 * 1024
  private static let unreadBytesLow = 32 * 1024

  private init(on loop: any EventLoop, autoRead: Bool, allowsHalfClosure: Bool) {
    eventLoop = loop
    closed = loop.makePromise()
    self.autoRead = autoRead
    self.allowsHalfClosure = allowsHalfClosure
    madePipeline = ChannelPipeline(channel: self)
  }

  /// Makes both ends of a connection, on their event loop. Each is to be ``activate()``d when its handlers are added.
  ///
  /// - Returns: a client that reads when it is told to, and closes when the server ends its output; and a server that
  ///   reads by itself, and may write on when the client has ended its output.
  package static func pair(on loop: any EventLoop) -> (client: LocalChannel, server: LocalChannel) {
    loop.assertInEventLoop()
    let client = LocalChannel(on: loop, autoRead: false, allowsHalfClosure: false)
    let server = LocalChannel(on: loop, autoRead: true, allowsHalfClosure: true)
    (client.peer, server.peer) = (server, client)
    return (client, server)
  }

  package func activate() {
    pipeline.syncOperations.fireChannelRegistered()
    pipeline.syncOperations.fireChannelActive()
    if autoRead, isActive { pipeline.syncOperations.read() }
  }

  // MARK: Channel

  package var pipeline: ChannelPipeline {
    guard let madePipeline else { preconditionFailure("it is made with the channel") }
    return madePipeline
  }
  package var closeFuture: EventLoopFuture<Void> { closed.futureResult }
  package var localAddress: SocketAddress? { nil }
  package var remoteAddress: SocketAddress? { nil }
  package var parent: (any Channel)? { nil }
  package var isActive: Bool { isOpen.load(ordering: .relaxed) }
  package var isWritable: Bool { hasRoom.load(ordering: .relaxed) }
  package var _channelCore: any ChannelCore { self }
  package var syncOptions: (any NIOSynchronousChannelOptions)? { self }

  package func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void> {
    if eventLoop.inEventLoop { return eventLoop.makeCompletedFuture { try set(option, to: value) } }
    return eventLoop.submit { try self.set(option, to: value) }
  }

  package func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
    if eventLoop.inEventLoop { return eventLoop.makeCompletedFuture { try value(of: option) } }
    return eventLoop.submit { try self.value(of: option) }
  }

  // MARK: Writing

  package func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard isActive, !isOutputEnded else {
      promise?.fail(isActive ? ChannelError.outputClosed : ChannelError.ioOnClosedChannel)
      return
    }
    let bytes = unwrapData(data, as: ByteBuffer.self)
    written.append(Message(bytes: bytes, promise: promise))
    writtenBytes += bytes.readableBytes
    updateWritability()
  }

  package func flush0() {
    guard isActive, !written.isEmpty else { return }
    guard let peer else { return close0(error: ChannelError.eof, mode: .all, promise: nil) }
    writtenBytes = 0
    var accepted: [EventLoopPromise<Void>] = []
    while let message = written.popFirst() {
      if let promise = peer.receive(message) { accepted.append(promise) }
    }
    peer.deliverSoon()
    // Last, as who waits for them may write.
    for promise in accepted { promise.succeed() }
  }

  /// Bytes that were written and that the peer has not read.
  private var unreadBytes: Int { writtenBytes + (peer?.receivedBytes ?? 0) }

  private func updateWritability() {
    guard isActive else { return }
    let isWritable = isWritable
    guard isWritable ? unreadBytes > Self.unreadBytesHigh : unreadBytes < Self.unreadBytesLow else { return }
    hasRoom.store(!isWritable, ordering: .relaxed)
    pipeline.syncOperations.fireChannelWritabilityChanged()
  }

  // MARK: Reading

  /// - Returns: the promise of a message that counts as sent.
  private func receive(_ message: Message) -> EventLoopPromise<Void>? {
    receivedBytes += message.bytes.readableBytes
    let isAccepted = receivedBytes <= Self.acceptedBytesMax
    received.append(Message(bytes: message.bytes, promise: isAccepted ? nil : message.promise))
    return isAccepted ? message.promise : nil
  }

  package func read0() {
    isReadWanted = true
    deliverSoon()
  }

  /// Not at once: neither end is called while it calls the other.
  private func deliverSoon() {
    guard isActive, isReadWanted, !isDeliveryDue, !isInputEnded, isEndReceived || !received.isEmpty else { return }
    isDeliveryDue = true
    eventLoop.assumeIsolated().execute { [self] in deliver() }
  }

  private func deliver() {
    isDeliveryDue = false
    guard isActive else { return }
    guard !received.isEmpty else { return endInput() }
    isReadWanted = false
    // Also when a handler closes this end, which forgets it.
    let peer = peer
    var left = Self.readBytesMax
    while isActive, left > 0, let message = takeReceived(atMost: left) {
      left -= message.bytes.readableBytes
      message.promise?.succeed()
      if message.bytes.readableBytes > 0 { pipeline.syncOperations.fireChannelRead(NIOAny(message.bytes)) }
    }
    peer?.updateWritability()
    guard isActive else { return }
    pipeline.syncOperations.fireChannelReadComplete()
    if autoRead, isActive { pipeline.syncOperations.read() }
  }

  /// The next message, or the beginning of a long one.
  private func takeReceived(atMost count: Int) -> Message? {
    guard let first = received.popFirst() else { return nil }
    var rest = first.bytes
    guard rest.readableBytes > count, let part = rest.readSlice(length: count) else {
      receivedBytes -= first.bytes.readableBytes
      return first
    }
    received.prepend(Message(bytes: rest, promise: first.promise))
    receivedBytes -= count
    return Message(bytes: part, promise: nil)
  }

  private func endInput() {
    isInputEnded = true
    guard allowsHalfClosure, !isOutputEnded else { return close0(error: ChannelError.eof, mode: .all, promise: nil) }
    pipeline.syncOperations.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    if isActive { pipeline.syncOperations.fireChannelReadComplete() }
  }

  // MARK: Closing

  package func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    switch mode {
    case .all: closeAll(error, promise)
    case .output: closeOutput(promise)
    case .input: promise?.fail(ChannelError.operationUnsupported)
    }
  }

  private func closeOutput(_ promise: EventLoopPromise<Void>?) {
    guard isActive, !isOutputEnded else {
      promise?.fail(isActive ? ChannelError.outputClosed : ChannelError.alreadyClosed)
      return
    }
    isOutputEnded = true
    failWrites(ChannelError.outputClosed)
    peer?.receiveEnd()
    promise?.succeed()
    guard !isInputEnded else { return close0(error: ChannelError.eof, mode: .all, promise: nil) }
    pipeline.syncOperations.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
  }

  private func closeAll(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
    guard isOpen.exchange(false, ordering: .relaxed) else {
      promise?.fail(ChannelError.alreadyClosed)
      return
    }
    failWrites(error)
    for message in received { message.promise?.fail(ChannelError.ioOnClosedChannel) }
    let isUnread = !received.isEmpty
    received.removeAll()
    if let peer {
      self.peer = nil
      peer.peer = nil
      isUnread ? peer.reset() : peer.receiveEnd()
    }
    promise?.succeed()
    pipeline.syncOperations.fireChannelInactive()
    pipeline.syncOperations.fireChannelUnregistered()
    // As with other channels, handlers are told of everything before they are removed, and the pipeline forgets its
    // channel.
    eventLoop.assumeIsolated().execute { [self] in
      removeHandlers(pipeline: pipeline)
      closed.succeed()
    }
  }

  private func failWrites(_ error: any Error) {
    let messages = written
    written.removeAll()
    writtenBytes = 0
    for message in messages { message.promise?.fail(error) }
  }

  private func receiveEnd() {
    isEndReceived = true
    deliverSoon()
  }

  /// The peer has closed without having read all, for which this end may be waiting: as TCP does, nothing more is read.
  private func reset() {
    eventLoop.assumeIsolated().execute { [self] in
      close0(error: ChannelError.ioOnClosedChannel, mode: .all, promise: nil)
    }
  }
}

extension LocalChannel: NIOSynchronousChannelOptions {
  package func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) throws {
    try set(option, to: value)
  }

  package func getOption<Option: ChannelOption>(_ option: Option) throws -> Option.Value { try value(of: option) }

  /// - Throws: `ChannelError.operationUnsupported` for options of sockets.
  private func set<Option: ChannelOption>(_ option: Option, to value: Option.Value) throws {
    switch (option, value) {
    case (is ChannelOptions.Types.AutoReadOption, let value as Bool):
      autoRead = value
      if autoRead, isActive { pipeline.syncOperations.read() }
    case (is ChannelOptions.Types.AllowRemoteHalfClosureOption, let value as Bool): allowsHalfClosure = value
    default: throw ChannelError.operationUnsupported
    }
  }

  private func value<Option: ChannelOption>(of option: Option) throws -> Option.Value {
    let value: Any =
      switch option {
      case is ChannelOptions.Types.AutoReadOption: autoRead
      case is ChannelOptions.Types.AllowRemoteHalfClosureOption: allowsHalfClosure
      case is ChannelOptions.Types.BufferedWritableBytesOption: max(0, unreadBytes - Self.acceptedBytesMax)
      default: throw ChannelError.operationUnsupported
      }
    guard let value = value as? Option.Value else { throw ChannelError.operationUnsupported }
    return value
  }
}
