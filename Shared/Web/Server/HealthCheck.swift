import AsyncHTTPClient
import NIOCore

/// Asks a program on this machine whether it is ready. For the health checks of containers, which have no shell.
struct HealthCheck {
  private let url: String

  /// - Throws: ``StartFailure`` when `PORT` is not a port.
  init(_ settings: Settings, defaultPort: Int) throws {
    let port = try settings.int("PORT", default: defaultPort, in: 1...65535)
    let isTLS = settings.nonempty("TLS_CERTIFICATE") != nil
    // 0.0.0.0 and :: listen on the loopback address, too.
    let host = settings.string("HOST", default: "127.0.0.1")
    let isWildcard = host == "0.0.0.0" || host == "::"
    let address = isWildcard ? "127.0.0.1" : host.contains(":") ? "[\(host)]" : host
    url = "\(isTLS ? "https" : "http")://\(address):\(port)/health/ready"
  }

  /// - Throws: ``StartFailure`` when the response is not 200, or when there is none within three seconds.
  func run() async throws {
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    // The certificate is that of the public name.
    configuration.tlsConfiguration = .clientDefault
    configuration.tlsConfiguration?.certificateVerification = .none
    let client = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    let result: Result<UInt, any Error>
    do {
      result = .success(try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(3)).status.code)
    } catch { result = .failure(error) }
    try await client.shutdown()
    switch result {
    case .success(200): return
    case .success(let status): throw StartFailure("\(url) answered \(status)")
    case .failure(let error): throw StartFailure("\(url) did not answer: \(error)")
    }
  }
}
