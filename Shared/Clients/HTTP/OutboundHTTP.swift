import AsyncHTTPClient
import NIOCore

/// The HTTP client of the process for other services and external parties, with timeouts and without redirects.
package enum OutboundHTTP {
  package static let client = HTTPClient(
    eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)

  private static let configuration: HTTPClient.Configuration = {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      timeout: .init(connect: .seconds(1), read: .seconds(10), write: .seconds(10)),
      connectionPool: .init(idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: 64))
    // A refused connection is reported at once, as callers have their own retries.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    return configuration
  }()
}
