import Hummingbird
import Logging
import NIOCore
import Wire

/// What responds to the requests of all connections of a server.
struct HTTPService: Sendable {
  let respond: @Sendable (Request, any Channel) async -> Response
  /// Responds to the requests that need no task.
  var loopRoutes: LoopRoutes?
  /// Responds to bytes that are no request.
  let refuse: @Sendable (Failure) -> Response
  let date = DateHeader()
  let logger: Logger
  var timeouts = ConnectionTimeouts()
}

/// How long a connection may be in a phase.
struct ConnectionTimeouts: Sendable {
  /// Between two requests: longer than the gateway keeps a connection that it does not use.
  var idle = TimeAmount.seconds(75)
  /// From the first byte of a head to its last, so that a drip of bytes does not keep a connection open.
  var head = TimeAmount.seconds(10)
  /// For a small body. The deadline of the request bounds the time of larger ones.
  var body = TimeAmount.seconds(60)
  /// For a client that does not read what it is sent.
  var write = TimeAmount.seconds(60)
  /// When the server stops, for the first request on a connection that was just opened.
  var firstRequest = TimeAmount.seconds(1)
  /// When the server stops, for reading what has arrived on a connection that has had requests.
  var lastRead = TimeAmount.milliseconds(5)
  /// For a client that does not close after the last response.
  var linger = TimeAmount.seconds(2)
}
