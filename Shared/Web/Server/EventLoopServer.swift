import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// An HTTP/1.1 server that handles each connection and its requests on one event loop, where nothing may take long.
/// What computes for more than a millisecond runs ``offEventLoop(if:_:)``.
struct EventLoopServer: ServerChildChannel {
  private let http: HTTP1Channel
  private let takeover: ConnectionTakeover?

  private init(_ takeover: ConnectionTakeover?, _ responder: @escaping HTTPChannelHandler.Responder) {
    self.takeover = takeover
    http = HTTP1Channel(
      responder: responder,
      configuration: .init(
        idleTimeout: .seconds(75),
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: 16 * 1024, maxHeaderListSize: 24 * 1024, maxHeaderFieldCount: 96)))
  }

  /// Serves requests until graceful shutdown. It takes the place of Hummingbird's `Application`, which makes a logger
  /// and a task-local value for each request.
  ///
  /// - Parameters:
  ///   - takeover: the connections that are not for this server.
  ///   - onServerRunning: called with the listening channel.
  static func service(
    host: String, port: Int, logger: Logger, takeover: ConnectionTakeover? = nil,
    respond: @escaping @Sendable (Request, any Channel) async -> Response,
    onServerRunning: @escaping @Sendable (any Channel) async -> Void
  ) -> any Service {
    let date = DateHeader()
    return EventLoopServer(takeover) { request, writer, channel in
      var response = await respond(request, channel)
      response.headers[.date] = date.value
      try await writer.write(response: response.head, body: response.body)
    }.server(
      configuration: ServerConfiguration(address: .hostname(host, port: port), backlog: 1024),
      onServerRunning: onServerRunning, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
    guard let takeover else {
      return http.setup(channel: channel, logger: logger).map {
        AcceptedConnection(channel: channel, http: .decided($0))
      }
    }
    let decision = channel.eventLoop.makePromise(of: HTTP1Channel.Value?.self)
    let first = FirstBytesHandler(takeover, decision: decision) { [http] channel in
      http.setup(channel: channel, logger: logger)
    }
    return channel.eventLoop.makeCompletedFuture {
      channel.useTransientReceiveBuffers()
      try channel.pipeline.syncOperations.addHandler(first)
      // The channel is read only once this future has completed.
      return AcceptedConnection(channel: channel, http: .undecided(decision.futureResult))
    }
  }

  func handle(value: AcceptedConnection, logger: Logger) async {
    guard let connection = await value.connection else { return }
    await withTaskExecutorPreference(EventLoopExecutor(connection.channel.eventLoop, logger: logger)) {
      await http.handle(value: connection, logger: logger)
    }
  }
}

/// A connection that a client has opened, whose first bytes may have to decide what handles it.
struct AcceptedConnection: ServerChildChannelValue {
  enum HTTP: Sendable {
    case decided(HTTP1Channel.Value)
    /// nil for a connection that was taken over, or closed before.
    case undecided(EventLoopFuture<HTTP1Channel.Value?>)
  }

  let channel: any Channel
  let http: HTTP

  /// The connection as the HTTP server handles it; nil when it does not.
  fileprivate var connection: HTTP1Channel.Value? {
    get async {
      switch http {
      case .decided(let connection): connection
      // `try?`: a connection that was closed before its first bytes needs nothing.
      case .undecided(let decision): (try? await decision.get()) ?? nil
      }
    }
  }
}

/// Runs `work` on the global executor instead of the event loop, if it takes long.
package func offEventLoop<T: Sendable>(if takesLong: Bool, _ work: () async throws -> T) async throws -> T {
  guard takesLong else { return try await work() }
  return try await withTaskExecutorPreference(globalConcurrentExecutor) { try await work() }
}

extension RouterMethods {
  /// A group of routes that run on the global executor, because they compute for more than a millisecond: their
  /// responses may have hundreds of entries.
  package func offEventLoop() -> RouterGroup<Context> { group().add(middleware: OffEventLoop<Context>()) }
}

private struct OffEventLoop<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    try await offEventLoop(if: true) { try await next(request, context) }
  }
}
