import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Support
import Synchronization
import Web
import Wire

/// A WebSocket client that speaks both versions of Phoenix' messages, frame by frame.
final class SocketClient: Sendable {
  struct Message: Sendable {
    let joinRef: String?
    let ref: String?
    let topic: String
    let event: String
    let payload: JSONValue

    /// Of a reply.
    var status: String? { payload["status"]?.string }
    var reason: String? { payload["response"]?["reason"]?.string }
    /// The name of a broadcast.
    var name: String? { payload["event"]?.string }
    /// Of an event of a test.
    var number: Int? { payload["payload"]?["number"]?.int ?? payload["data"]?["record"]?["number"]?.int }
    var seq: Int? { payload["meta"]?["seq"]?.int ?? payload["seq"]?.int }
  }

  fileprivate struct State {
    var messages: [Message] = []
    var binaries: [Data] = []
    var closeCode: Int?
    var isClosed = false
    var pings = 0
    var lastRef = 0
  }

  let version: String
  let channel: any Channel
  private let state: Received

  fileprivate final class Received: Sendable {
    let state = Mutex(State())
    let signal = ChangeSignal()
  }

  /// Connects, also without success: ``refusedStatus`` says why.
  static func connect(
    _ fixture: EventsFixture, version: String? = "2.0.0", apikey: String = "anon", autoRead: Bool = true
  ) async throws -> SocketClient {
    try await connect(port: fixture.port, version: version, apikey: apikey, autoRead: autoRead)
  }

  static func connect(
    port: Int, version: String? = "2.0.0", apikey: String = "anon", autoRead: Bool = true
  ) async throws -> SocketClient {
    let (received, version) = (Received(), version)
    let upgraded: EventLoopFuture<(any Channel)?> = try await ClientBootstrap(
      group: .singletonMultiThreadedEventLoopGroup
    )
    .channelOption(.socketOption(.so_rcvbuf), value: autoRead ? 256 * 1024 : 4096)
    .connect(host: "127.0.0.1", port: port) { channel in
      channel.eventLoop.makeCompletedFuture {
        let upgrader = NIOTypedWebSocketClientUpgrader<(any Channel)?>(
          maxFrameSize: 1 << 22,
          upgradePipelineHandler: { channel, _ in
            channel.eventLoop.makeCompletedFuture {
              try channel.pipeline.syncOperations.addHandler(
                FrameCollector(version ?? "1.0.0", received.receive))
              return channel
            }
          })
        let vsn = version.map { "&vsn=\($0)" } ?? ""
        var head = HTTPRequestHead(
          version: .http1_1, method: .GET, uri: "/realtime/v1/websocket?apikey=\(apikey)\(vsn)")
        head.headers.add(name: "host", value: "localhost")
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
          configuration: .init(
            upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
              upgradeRequestHead: head, upgraders: [upgrader],
              notUpgradingCompletionHandler: { channel in channel.eventLoop.makeSucceededFuture(nil) })))
      }
    }
    guard let channel = try await upgraded.get() else { throw NotUpgraded() }
    if !autoRead { try await channel.setOption(.autoRead, value: false).get() }
    return SocketClient(channel, version ?? "1.0.0", received)
  }

  struct NotUpgraded: Error {}

  private init(_ channel: any Channel, _ version: String, _ received: Received) {
    (self.channel, self.version, state) = (channel, version, received)
  }

  // MARK: Sending

  func send(frame opcode: WebSocketOpcode, _ data: ByteBuffer, fin: Bool = true) async throws {
    try await channel.writeAndFlush(WebSocketFrame(fin: fin, opcode: opcode, maskKey: .random(), data: data))
  }

  func send(text: String) async throws { try await send(frame: .text, ByteBuffer(string: text)) }

  /// - Returns: the ref of the message.
  @discardableResult
  func push(
    _ topic: String, _ event: String, _ payload: String = "{}", joinRef: String? = nil
  ) async throws -> String {
    let ref = state.state.withLock { state in
      state.lastRef += 1
      return String(state.lastRef)
    }
    let join = (joinRef ?? (event == "phx_join" ? ref : nil)).map { "\"\($0)\"" } ?? "null"
    switch version {
    case "1.0.0":
      try await send(
        text: #"{"topic":"\#(topic)","event":"\#(event)","payload":\#(payload),"ref":"\#(ref)","join_ref":\#(join)}"#)
    default: try await send(text: #"[\#(join),"\#(ref)","\#(topic)","\#(event)",\#(payload)]"#)
    }
    return ref
  }

  /// Pushes and waits for the reply.
  @discardableResult
  func call(_ topic: String, _ event: String, _ payload: String = "{}", joinRef: String? = nil) async throws -> Message
  {
    let ref = try await push(topic, event, payload, joinRef: joinRef)
    return try await next { $0.event == "phx_reply" && $0.ref == ref }
  }

  /// - Parameter config: members of `config`, as JSON.
  @discardableResult
  func join(_ topic: String, _ token: String?, _ config: String = "") async throws -> Message {
    let token = token.map { #","access_token":"\#($0)""# } ?? ""
    return try await call(topic, "phx_join", #"{"config":{\#(config)}\#(token)}"#)
  }

  func close() async throws { try await channel.close() }

  // MARK: Receiving

  /// The first message that satisfies a condition; it and what came before it are then gone.
  func next(
    _ what: String = "a message", within limit: Duration = .seconds(60), line: Int = #line,
    where isExpected: @Sendable (Message) -> Bool = { _ in true }
  ) async throws -> Message {
    let end = ContinuousClock.now + limit
    while true {
      let version = state.signal.version
      let found = state.state.withLock { state -> Message? in
        guard let index = state.messages.firstIndex(where: isExpected) else { return nil }
        defer { state.messages.removeFirst(index + 1) }
        return state.messages[index]
      }
      if let found { return found }
      guard !isClosed, ContinuousClock.now < end else {
        throw Unexpected(
          reply: "\(what) of line \(line) did not come, closed: \(isClosed) \(closeCode ?? 0): \(messages)")
      }
      await state.signal.wait(after: version, atMost: .seconds(1))
    }
  }

  /// The next broadcast of the feed.
  func nextEvent(within limit: Duration = .seconds(60)) async throws -> Message {
    try await next("an event", within: limit) { $0.event == "broadcast" || $0.event == "postgres_changes" }
  }

  func nextPresenceDiff() async throws -> Message {
    try await next("a change of presence") { $0.event == "presence_diff" }
  }

  func nextEvents(_ count: Int) async throws -> [Message] {
    var events: [Message] = []
    while events.count < count { events.append(try await nextEvent()) }
    return events
  }

  /// Everything that has been received and not taken, after a round trip.
  func settled() async throws -> [Message] {
    let ref = try await push("phoenix", "heartbeat")
    try await eventually("the heartbeat") { messages.contains { $0.ref == ref } || isClosed }
    return messages.filter { $0.ref != ref }
  }

  var messages: [Message] { state.state.withLock { $0.messages } }
  var isClosed: Bool { state.state.withLock { $0.isClosed } }
  var closeCode: Int? { state.state.withLock { $0.closeCode } }
  var pings: Int { state.state.withLock { $0.pings } }

  func nextBinary() async throws -> Data {
    try await eventually("a binary frame") { state.state.withLock { !$0.binaries.isEmpty } }
    return state.state.withLock { $0.binaries.removeFirst() }
  }

  func untilClosed() async throws { try await eventually("the close") { isClosed } }
}

extension SocketClient.Received {
  fileprivate func receive(_ received: FrameCollector.Received) {
    state.withLock { state in
      switch received {
      case .message(let message): state.messages.append(message)
      case .binary(let data): state.binaries.append(data)
      case .close(let code): state.closeCode = code
      case .ping: state.pings += 1
      case .closed: state.isClosed = true
      }
    }
    signal.send()
  }
}

/// Parses the frames of a server.
private final class FrameCollector: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  enum Received: Sendable {
    case message(SocketClient.Message)
    case binary(Data)
    case close(Int?)
    case ping, closed
  }

  private let version: String
  private let receive: @Sendable (Received) -> Void

  init(_ version: String, _ receive: @escaping @Sendable (Received) -> Void) {
    self.version = version
    self.receive = receive
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .text:
      // `try?`: what cannot be parsed fails the test that waits for it.
      if let value = try? JSON.decode(JSONValue.self, from: Data(buffer: frame.data)),
        let message = SocketClient.Message(value, version)
      {
        receive(.message(message))
      }
    case .binary: receive(.binary(Data(buffer: frame.data)))
    case .ping:
      receive(.ping)
      let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.data)
      context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
    case .connectionClose:
      var data = frame.data
      receive(.close(data.readInteger(as: UInt16.self).map { Int($0) }))
      context.close(promise: nil)
    default: break
    }
  }

  func channelInactive(context: ChannelHandlerContext) { receive(.closed) }
}

extension SocketClient.Message {
  fileprivate init?(_ value: JSONValue, _ version: String) {
    if version == "1.0.0" {
      guard case .object(let members) = value, members.keys.contains("ref"), let topic = members["topic"]?.string,
        let event = members["event"]?.string, let payload = members["payload"]
      else { return nil }
      self.init(
        joinRef: members["join_ref"]?.string, ref: members["ref"]?.string, topic: topic, event: event,
        payload: payload)
    } else {
      guard case .array(let parts) = value, parts.count == 5, let topic = parts[2].string, let event = parts[3].string
      else { return nil }
      self.init(joinRef: parts[0].string, ref: parts[1].string, topic: topic, event: event, payload: parts[4])
    }
  }
}

extension JSONValue {
  var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  var int: Int? {
    guard case .integer(let number) = self else { return nil }
    return number
  }

  var array: [JSONValue]? {
    guard case .array(let values) = self else { return nil }
    return values
  }

  var members: [String: JSONValue] {
    guard case .object(let members) = self else { return [:] }
    return members
  }
}
