import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// Accepts connections from within the process: ``LocalChannel``s, which the server handles like those that come over
/// its port.
package final class LocalListener: Service {
  private struct State {
    var isOpen = true
    var channels: [ObjectIdentifier: LocalChannel] = [:]
  }

  private let server: EventLoopServer
  private let logger: Logger
  private let state = Mutex(State())
  private let accepted: AsyncStream<AcceptedConnection>
  private let accepting: AsyncStream<AcceptedConnection>.Continuation

  init(_ server: EventLoopServer, logger: Logger) {
    self.server = server
    self.logger = logger
    (accepted, accepting) = AsyncStream.makeStream()
  }

  /// Opens a connection on an event loop, which calls this. The channel reads when it is told to.
  ///
  /// - Throws: `ChannelError.ioOnClosedChannel` when the server has stopped.
  package func connect(on loop: any EventLoop) throws -> any Channel {
    let (client, server) = LocalChannel.pair(on: loop)
    guard add(server) else {
      server.close(promise: nil)
      client.close(promise: nil)
      throw ChannelError.ioOnClosedChannel
    }
    self.server.setup(channel: server, logger: logger).assumeIsolated().whenComplete { [accepting] result in
      switch result {
      case .success(let connection):
        server.activate()
        // Stopped since then: nobody serves it.
        if case .terminated = accepting.yield(connection) { server.close(promise: nil) }
      case .failure: server.close(promise: nil)
      }
    }
    client.activate()
    return client
  }

  private func add(_ channel: LocalChannel) -> Bool {
    let id = ObjectIdentifier(channel)
    let isOpen = state.withLock { state in
      if state.isOpen { state.channels[id] = channel }
      return state.isOpen
    }
    if isOpen { channel.closeFuture.whenComplete { [self] _ in state.withLock { $0.channels[id] = nil } } }
    return isOpen
  }

  /// Serves until graceful shutdown. Then no connections are made, and those that are open end with their requests in
  /// flight.
  package func run() async {
    await withGracefulShutdownHandler {
      await withDiscardingTaskGroup { group in
        for await connection in accepted {
          group.addTask { [server, logger] in await server.handle(value: connection, logger: logger) }
        }
        // Cancelled, it may have been left open.
        stop()
      }
    } onGracefulShutdown: {
      self.stop()
    }
  }

  private func stop() {
    let channels = state.withLock { state in
      state.isOpen = false
      return Array(state.channels.values)
    }
    accepting.finish()
    for channel in channels {
      channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    }
  }
}
