import AsyncHTTPClient
import NIOCore

/// The HTTP client of the process for other services and external parties, with timeouts and without redirects.
package enum OutboundHTTP {
  package static let client = makeClient(readTimeout: .seconds(10))

  /// The same for calls that wait until there is something to reply, for up to 25 seconds.
  static let clientForWaits = makeClient(readTimeout: .seconds(30))

  /// The same for bodies that are passed on to a client, which may read slowly: nothing is read meanwhile. Its timeout is
  /// longer than that of the server for such a client.
  static let clientForStreams = makeClient(readTimeout: .seconds(90))

  private static func makeClient(readTimeout: TimeAmount) -> HTTPClient {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      // None for writing: each call has a deadline for the head of its response.
      timeout: .init(connect: .seconds(1), read: readTimeout),
      connectionPool: .init(idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: 64))
    // A refused connection is reported at once, as callers have their own retries.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
  }
}
