import NIOCore
import NIOEmbedded
import Testing

@testable import Web

/// The ends of a connection within the process behave as TCP channels do. ``ConnectionTests`` has what requests need.
@Suite struct LocalChannelTests {
  /// What an end is told.
  private final class Recorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private(set) var events: [String] = []
    /// Called with each part that is read.
    var onRead: ((ChannelHandlerContext) -> Void)?

    func handlerRemoved(context: ChannelHandlerContext) { events.append("removed") }
    func channelActive(context: ChannelHandlerContext) { events.append("active") }
    func channelInactive(context: ChannelHandlerContext) { events.append("inactive") }
    func channelReadComplete(context: ChannelHandlerContext) { events.append("complete") }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      events.append(String(buffer: unwrapInboundIn(data)))
      onRead?(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      events.append(context.channel.isWritable ? "writable" : "full")
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if let event = event as? ChannelEvent { events.append("\(event)") }
    }

    /// What it was told since the last call.
    func next() -> [String] {
      defer { events = [] }
      return events
    }
  }

  private struct Ends {
    let loop = EmbeddedEventLoop()
    let client: LocalChannel
    let server: LocalChannel
    let atClient = Recorder()
    let atServer = Recorder()

    init() throws {
      (client, server) = LocalChannel.pair(on: loop)
      try client.pipeline.syncOperations.addHandler(atClient)
      try server.pipeline.syncOperations.addHandler(atServer)
      client.activate()
      server.activate()
      #expect(atClient.next() == ["active"] && atServer.next() == ["active"])
    }

    func send(_ text: String, from channel: LocalChannel) -> EventLoopFuture<Void> {
      let sent = loop.makePromise(of: Void.self)
      channel.writeAndFlush(ByteBuffer(string: text), promise: sent)
      return sent.futureResult
    }
  }

  @Test func whatOneEndFlushesTheOtherReadsWhenItWantsTo() throws {
    let ends = try Ends()
    ends.client.write(ByteBuffer(string: "a"), promise: nil)
    ends.loop.run()
    #expect(ends.atServer.next() == [])
    let sent = ends.send("b", from: ends.client)
    // Not while the other end is being called.
    #expect(ends.atServer.next() == [])
    ends.loop.run()
    #expect(ends.atServer.next() == ["a", "b", "complete"])
    try sent.wait()
    // The client does not read by itself.
    let answer = ends.send("c", from: ends.server)
    ends.loop.run()
    #expect(ends.atClient.next() == [])
    // Taken, as by the kernel.
    try answer.wait()
    ends.client.read()
    ends.loop.run()
    #expect(ends.atClient.next() == ["c", "complete"])
    // What was asked for is there for the next message.
    ends.client.read()
    ends.loop.run()
    _ = ends.send("d", from: ends.server)
    ends.loop.run()
    #expect(ends.atClient.next() == ["d", "complete"])
  }

  @Test func whoIsReadSlowlyIsNotWritable() throws {
    let ends = try Ends()
    let part = String(repeating: "x", count: 40 * 1024)
    let first = ends.send(part, from: ends.server)
    #expect(ends.server.isWritable && first.isFulfilled)
    #expect(try ends.server.syncOptions?.getOption(.bufferedWritableBytes) == 0)
    let second = ends.send(part, from: ends.server)
    #expect(!ends.server.isWritable && ends.atServer.next() == ["full"])
    #expect(try ends.server.syncOptions?.getOption(.bufferedWritableBytes) == 16 * 1024)
    ends.loop.run()
    #expect(!ends.server.isWritable && !second.isFulfilled)
    ends.client.read()
    ends.loop.run()
    #expect(ends.server.isWritable && ends.atServer.next() == ["writable"] && second.isFulfilled)
    #expect(try ends.server.syncOptions?.getOption(.bufferedWritableBytes) == 0)
  }

  @Test func aServerMayRespondToAClientThatHasEndedItsOutput() throws {
    let ends = try Ends()
    _ = ends.send("question", from: ends.client)
    ends.client.close(mode: .output, promise: nil)
    #expect(ends.atClient.next() == ["outputClosed"])
    let late = ends.send("late", from: ends.client)
    ends.loop.run()
    #expect(throws: ChannelError.outputClosed) { try late.wait() }
    #expect(ends.atServer.next() == ["question", "complete", "inputClosed", "complete"] && ends.server.isActive)
    let answer = ends.send("answer", from: ends.server)
    ends.client.read()
    ends.loop.run()
    try answer.wait()
    #expect(ends.atClient.next() == ["answer", "complete"])
    ends.server.close(mode: .output, promise: nil)
    ends.client.read()
    ends.loop.run()
    #expect(!ends.client.isActive && !ends.server.isActive)
    #expect(ends.atClient.next() == ["inactive", "removed"] && ends.atServer.next() == ["inactive", "removed"])
    try ends.client.closeFuture.wait()
    try ends.server.closeFuture.wait()
  }

  @Test func whatWasSentBeforeTheCloseIsStillRead() throws {
    let ends = try Ends()
    _ = ends.send("last", from: ends.server)
    ends.server.close(promise: nil)
    ends.loop.run()
    #expect(ends.client.isActive && ends.atClient.next() == [])
    ends.client.read()
    ends.loop.run()
    #expect(ends.atClient.next() == ["last", "complete"] && ends.client.isActive)
    // It learns of the end when it reads again.
    ends.client.read()
    ends.loop.run()
    #expect(ends.atClient.next() == ["inactive", "removed"])
  }

  @Test func whatNobodyWillReadFails() throws {
    let ends = try Ends()
    ends.client.close(promise: nil)
    // The server is told that the client is gone, and finds out when it writes.
    ends.loop.run()
    #expect(ends.atServer.next() == ["inputClosed", "complete"] && ends.server.isActive)
    let late = ends.send("late", from: ends.server)
    ends.loop.run()
    #expect(throws: (any Error).self) { try late.wait() }
    #expect(ends.atServer.next() == ["inactive", "removed"] && !ends.server.isActive)
    // Safe to repeat, as for other channels.
    #expect(throws: ChannelError.alreadyClosed) { try ends.server.close().wait() }
    #expect(throws: ChannelError.ioOnClosedChannel) { try ends.send("x", from: ends.server).wait() }
  }

  @Test func whoIsNotReadToTheEndIsClosedAtOnce() throws {
    let ends = try Ends()
    let unread = ends.send(String(repeating: "x", count: 65 * 1024), from: ends.server)
    ends.client.close(promise: nil)
    #expect(throws: ChannelError.ioOnClosedChannel) { try unread.wait() }
    ends.loop.run()
    #expect(ends.atServer.next() == ["full", "inactive", "removed"] && !ends.server.isActive)
  }

  @Test func whoClosesWhileItReadsIsToldNothingMore() throws {
    let ends = try Ends()
    ends.atServer.onRead = { $0.close(promise: nil) }
    ends.client.write(ByteBuffer(string: "one"), promise: nil)
    let second = ends.send(String(repeating: "x", count: 65 * 1024), from: ends.client)
    ends.loop.run()
    #expect(ends.atServer.next() == ["one", "inactive", "removed"])
    #expect(throws: ChannelError.ioOnClosedChannel) { try second.wait() }
    #expect(ends.atClient.next() == ["full", "writable", "inactive", "removed"])
  }

  @Test func whoWaitsForOneThatClosesAtTheLastByteWaitsNoLonger() throws {
    let ends = try Ends()
    ends.atClient.onRead = { $0.close(promise: nil) }
    _ = ends.send(String(repeating: "x", count: 65 * 1024), from: ends.server)
    ends.client.read()
    ends.loop.run()
    #expect(ends.atServer.next() == ["full", "writable", "inputClosed", "complete"])
  }

  @Test func aReadGetsAPartOfALongMessage() throws {
    let ends = try Ends()
    let message = String(repeating: "a", count: 256 * 1024) + String(repeating: "b", count: 44 * 1024) + "end"
    let sent = ends.send(message, from: ends.server)
    _ = ends.send("next", from: ends.server)
    ends.client.read()
    ends.loop.run()
    #expect(ends.atClient.next().map(\.count) == [256 * 1024, "complete".count] && !sent.isFulfilled)
    #expect(!ends.server.isWritable)
    ends.client.read()
    ends.loop.run()
    let rest = ends.atClient.next()
    #expect(rest.first?.hasPrefix("bbb") == true && rest.first?.hasSuffix("bend") == true)
    #expect(rest.dropFirst() == ["next", "complete"] && sent.isFulfilled && ends.server.isWritable)
  }

  @Test func aWriterThatIsToldAtOnceMayWriteAndClose() throws {
    let ends = try Ends()
    let sent = ends.loop.makePromise(of: Void.self)
    let server = ends.server
    sent.futureResult.assumeIsolated().whenSuccess {
      server.writeAndFlush(ByteBuffer(string: "c"), promise: nil)
      server.close(mode: .output, promise: nil)
    }
    server.write(ByteBuffer(string: "a"), promise: sent)
    server.write(ByteBuffer(string: "b"), promise: nil)
    server.flush()
    ends.client.read()
    ends.loop.run()
    #expect(ends.atClient.next() == ["a", "b", "c", "complete"])
  }

  @Test func optionsOfSocketsAreRefused() throws {
    let ends = try Ends()
    #expect(throws: ChannelError.operationUnsupported) {
      try ends.client.syncOptions?.setOption(.socketOption(.so_reuseaddr), value: 1)
    }
    #expect(try ends.client.syncOptions?.getOption(.autoRead) == false)
    try ends.client.syncOptions?.setOption(.autoRead, value: true)
    _ = ends.send("by itself", from: ends.server)
    ends.loop.run()
    #expect(ends.atClient.next() == ["by itself", "complete"])
  }
}

extension EventLoopFuture {
  fileprivate var isFulfilled: Bool {
    var isFulfilled = false
    assumeIsolated().whenComplete { _ in isFulfilled = true }
    return isFulfilled
  }
}
