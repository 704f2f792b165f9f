import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// An HTTP/1.1 server that handles each connection and its requests on one event loop, where nothing may take long.
/// What computes for more than a millisecond runs ``offEventLoop(if:_:)``.
struct EventLoopServer: ServerChildChannel {
  private let http: HTTPService
  /// The connections that are not for this server.
  private let takeover: ConnectionTakeover?

  init(_ http: HTTPService, takeover: ConnectionTakeover? = nil) {
    self.http = http
    self.takeover = takeover
  }

  /// Serves requests to an address until graceful shutdown. It takes the place of Hummingbird's `Application`, which makes
  /// a logger and a task-local value for each request.
  ///
  /// - Parameter onServerRunning: called with the listening channel.
  func service(
    _ address: BindAddress, onServerRunning: @escaping @Sendable (any Channel) async -> Void
  ) -> any Service {
    server(
      configuration: ServerConfiguration(address: address, backlog: 1024), onServerRunning: onServerRunning,
      eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: http.logger)
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
    channel.eventLoop.makeCompletedFuture {
      let connection = HTTPConnection(http, on: channel)
      let bound = NIOLoopBound(connection, eventLoop: channel.eventLoop)
      guard let takeover else {
        try channel.pipeline.syncOperations.addHandler(connection)
        return AcceptedConnection(channel: channel, http: channel.eventLoop.makeSucceededFuture(bound))
      }
      channel.useTransientReceiveBuffers()
      let decision = channel.eventLoop.makePromise(of: NIOLoopBound<HTTPConnection>?.self)
      let first = FirstBytesHandler(takeover, else: connection) { isServed in decision.succeed(isServed ? bound : nil) }
      try channel.pipeline.syncOperations.addHandler(first)
      return AcceptedConnection(channel: channel, http: decision.futureResult)
    }
  }

  /// Returns when the connection is closed, or not for this server.
  func handle(value: AcceptedConnection, logger: Logger) async {
    // `try?`: it never fails.
    guard let http = (try? await value.http.get()) ?? nil else { return }
    await withTaskCancellationHandler {
      await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop, logger: logger)) {
        // A task of its own, as a request that exceeds its deadline cancels it, and this one would close the channel.
        async let late = http.value.serve()
        if let response = await late { await http.value.finish(with: response) }
      }
    } onCancel: {
      value.channel.close(promise: nil)
    }
  }
}

/// A connection that a client has opened.
struct AcceptedConnection: ServerChildChannelValue {
  let channel: any Channel
  /// nil for a connection that was taken over, or closed before it was known what it is for.
  fileprivate let http: EventLoopFuture<NIOLoopBound<HTTPConnection>?>
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
