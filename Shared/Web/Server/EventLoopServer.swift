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

  private init(_ responder: @escaping HTTPChannelHandler.Responder) {
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
  /// - Parameter onServerRunning: called with the listening channel.
  static func service(
    host: String, port: Int, logger: Logger,
    respond: @escaping @Sendable (Request, any Channel) async -> Response,
    onServerRunning: @escaping @Sendable (any Channel) async -> Void
  ) -> any Service {
    let date = DateHeader()
    return EventLoopServer { request, writer, channel in
      var response = await respond(request, channel)
      response.headers[.date] = date.value
      try await writer.write(response: response.head, body: response.body)
    }.server(
      configuration: ServerConfiguration(address: .hostname(host, port: port), backlog: 1024),
      onServerRunning: onServerRunning, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
    http.setup(channel: channel, logger: logger)
  }

  func handle(value: HTTP1Channel.Value, logger: Logger) async {
    await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop, logger: logger)) {
      await http.handle(value: value, logger: logger)
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
