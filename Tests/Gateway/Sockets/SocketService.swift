import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Web

/// A service with a WebSocket. The query of a request names what becomes of it (``Behavior``).
final class SocketService: Service {
  enum Behavior: String {
    /// Switches, and sends back what it gets.
    case echo
    /// Switches when the test calls ``SocketService/resume()``, then sends back what it gets.
    case late
    /// Switches, and reads nothing until ``SocketService/resume()``.
    case deaf
    /// Switches, and sends frames without end.
    case flood
    /// Switches together with the first half of a frame; sends the rest, and half of another, at `resume()`.
    case half
    /// Switches together with a Close frame, and ends its side.
    case bye
    /// Responds without switching.
    case refuse
    case wrongAccept, noAccept, noUpgrade, otherProtocol, noConnection, length, accepted
  }

  private struct State {
    var heads: [String] = []
    var bytesBeforeSwitch = 0
    var bytesReceived = 0
    var bytesSent = 0
    var inputsClosed = 0
    var connections: [ObjectIdentifier: NIOLoopBound<SocketServiceHandler>] = [:]
  }

  private let state = Mutex(State())
  let listening = ListeningPort()

  /// The heads of all requests but probes.
  var heads: [String] { state.withLock { $0.heads } }
  /// Bytes after a head that came before the service switched.
  var bytesBeforeSwitch: Int { state.withLock { $0.bytesBeforeSwitch } }
  var bytesReceived: Int { state.withLock { $0.bytesReceived } }
  var bytesSent: Int { state.withLock { $0.bytesSent } }
  /// Connections on which the other side has sent its last byte.
  var inputsClosed: Int { state.withLock { $0.inputsClosed } }
  /// Open connections that have switched.
  var sockets: Int { state.withLock { $0.connections.count } }

  func run() async throws {
    defer { listening.ended() }
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1024)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(SocketServiceHandler(self))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    listening.opened(on: channel.localAddress?.port ?? 0, channel)
    try await gracefulShutdown()
    try await channel.close()
    kill()
  }

  func resume() {
    for connection in state.withLock({ Array($0.connections.values) }) {
      connection.eventLoop.execute { connection.value.resume() }
    }
  }

  /// Closes all connections that have switched, as the end of its process does.
  func kill() {
    for connection in state.withLock({ Array($0.connections.values) }) {
      connection.eventLoop.execute { connection.value.close() }
    }
  }

  fileprivate func began(_ head: String) { state.withLock { $0.heads.append(head) } }

  fileprivate func opened(_ handler: SocketServiceHandler, on loop: any EventLoop) {
    let bound = NIOLoopBound(handler, eventLoop: loop)
    state.withLock { $0.connections[ObjectIdentifier(handler)] = bound }
  }

  fileprivate func closed(_ handler: SocketServiceHandler) {
    state.withLock { $0.connections[ObjectIdentifier(handler)] = nil }
  }

  fileprivate func received(_ count: Int, hasSwitched: Bool) {
    state.withLock { state in
      state.bytesReceived += count
      if !hasSwitched { state.bytesBeforeSwitch += count }
    }
  }

  fileprivate func sent(_ count: Int) { state.withLock { $0.bytesSent += count } }

  fileprivate func inputClosed() { state.withLock { $0.inputsClosed += 1 } }
}

/// One connection to the service.
private final class SocketServiceHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let service: SocketService
  private var context: ChannelHandlerContext?
  private var inbound = ByteBuffer()
  private var behavior: SocketService.Behavior?
  private var hasSwitched = false
  private var isHeld = false

  init(_ service: SocketService) { self.service = service }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func channelInactive(context: ChannelHandlerContext) {
    service.closed(self)
    self.context = nil
  }

  func read(context: ChannelHandlerContext) { if !isHeld { context.read() } }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    guard behavior == nil else { return receive(bytes) }
    inbound.writeBuffer(&bytes)
    guard let end = inbound.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound,
      let head = inbound.readString(length: end - inbound.readerIndex)
    else { return }
    let rest = inbound
    inbound = ByteBuffer()
    begin(head, context)
    if rest.readableBytes > 0 { receive(rest) }
  }

  private func begin(_ head: String, _ context: ChannelHandlerContext) {
    guard !head.hasPrefix("GET /health/ready ") else { return write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n") }
    service.began(head)
    let name = head.firstMatch(of: /^GET \/socket\?([a-zA-Z]+)/)?.output.1 ?? ""
    guard let behavior = SocketService.Behavior(rawValue: String(name)) else {
      return write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nplain")
    }
    switch behavior {
    case .refuse: write("HTTP/1.1 403 Forbidden\r\ncontent-length: 7\r\n\r\nrefused")
    case .late:
      self.behavior = behavior
      service.opened(self, on: context.eventLoop)
    default:
      self.behavior = behavior
      service.opened(self, on: context.eventLoop)
      switchProtocols(behavior)
    }
  }

  private func switchProtocols(_ behavior: SocketService.Behavior) {
    hasSwitched = true
    var lines = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: \(SocketHandshake.accept)"]
    var status = "101 Switching Protocols"
    switch behavior {
    case .wrongAccept: lines[2] = "Sec-WebSocket-Accept: \(SocketHandshake.key)"
    case .noAccept: lines.remove(at: 2)
    case .noUpgrade: lines.remove(at: 0)
    case .otherProtocol: lines[0] = "Upgrade: h2c"
    case .noConnection: lines.remove(at: 1)
    case .length: lines.append("Content-Length: 3")
    case .accepted: status = "200 OK"
    default: lines += ["Sec-WebSocket-Protocol: chat", "X-Service-Key: secret", "X-User-ID: someone"]
    }
    write("HTTP/1.1 \(status)\r\n\(lines.map { $0 + "\r\n" }.joined())\r\n")
    switch behavior {
    case .deaf: isHeld = true
    case .flood: flood()
    case .half: write(bytes: [0x82, 0x04, 0x61, 0x62])
    case .bye:
      write(bytes: [0x88, 0x02, 0x03, 0xE8])
      context?.close(mode: .output, promise: nil)
    default: break
    }
  }

  private func receive(_ bytes: ByteBuffer) {
    service.received(bytes.readableBytes, hasSwitched: hasSwitched)
    switch behavior {
    case .echo: context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    case .late where hasSwitched: context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    case .late: inbound.writeImmutableBuffer(bytes)
    default: break
    }
  }

  func resume() {
    switch behavior {
    case .late where !hasSwitched:
      switchProtocols(.late)
      context?.writeAndFlush(wrapOutboundOut(inbound), promise: nil)
    case .half: write(bytes: [0x63, 0x64, 0x82, 0x04, 0x65])
    case .deaf:
      isHeld = false
      context?.read()
    default: break
    }
  }

  func close() { context?.close(promise: nil) }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if behavior == .flood, context.channel.isWritable { flood() }
  }

  private func flood() {
    guard let context else { return }
    var frame = ByteBuffer(bytes: [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0])
    frame.writeRepeatingByte(0x62, count: 0x10000)
    while context.channel.isActive, context.channel.isWritable {
      service.sent(frame.readableBytes)
      context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case .inputClosed? = event as? ChannelEvent else { return }
    service.inputClosed()
    // Says what it still has to say.
    if behavior == .echo { write(bytes: Array("last words".utf8)) }
    context.close(mode: .output, promise: nil)
  }

  private func write(_ text: String) { write(bytes: Array(text.utf8)) }

  private func write(bytes: [UInt8]) {
    context?.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
  }
}
