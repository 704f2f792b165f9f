import AsyncHTTPClient
import NIOCore

/// The HTTP client of the process for other services and external parties, with timeouts and without redirects.
package enum OutboundHTTP {
  package static let client = makeClient(silenceMax: silenceMax)
  /// How long a connection of ``client`` may be silent during a request.
  static let silenceMax = Duration.seconds(10)

  /// The same for bodies that are passed on to a client, which may read slowly: nothing is read meanwhile. Its timeout is
  /// longer than that of the server for such a client.
  static let clientForStreams = makeClient(silenceMax: .seconds(90))

  private static func makeClient(silenceMax: Duration) -> HTTPClient {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      // None for writing: each call has a deadline for the head of its response.
      timeout: .init(connect: .seconds(1), read: TimeAmount(silenceMax)),
      connectionPool: .init(idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: 64))
    // A refused connection is reported at once, as callers have their own retries.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
  }
}
