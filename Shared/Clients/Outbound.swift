import AsyncHTTPClient
import NIOCore

/// The process's connections to other processes and outside parties: no redirects, a limit on every wait.
package enum Outbound {
  package static let http = HTTPClient(
    eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)

  private static let configuration: HTTPClient.Configuration = {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      timeout: .init(connect: .seconds(1), read: .seconds(10), write: .seconds(10)),
      connectionPool: .init(idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: 64))
    // A service that is down is an answer, to be given at once.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    return configuration
  }()
}
