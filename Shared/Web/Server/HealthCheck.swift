import AsyncHTTPClient
import Foundation
import NIOCore

/// Asks a program on this machine whether it is ready. For the health checks of containers, which have no shell.
struct HealthCheck {
  static let path = "/health/ready"

  private let isTLS: Bool
  private let host: String
  private let port: Int

  /// - Throws: ``StartFailure`` when `PORT` is not a port.
  init(_ settings: Settings, defaultPort: Int) throws {
    port = try settings.int("PORT", default: defaultPort, in: 1...65535)
    isTLS = settings.nonempty("TLS_CERTIFICATE") != nil
    // 0.0.0.0 and :: listen on the loopback address, too.
    let host = settings.string("HOST", default: "127.0.0.1")
    self.host = host == "0.0.0.0" || host == "::" ? "127.0.0.1" : host
  }

  private var url: String {
    "\(isTLS ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)\(Self.path)"
  }

  /// - Throws: ``StartFailure`` when the response is not 200, or when there is none within three seconds.
  func run() async throws {
    let status: Int
    do { status = try await isTLS ? statusByTLS() : statusByTCP() } catch {
      throw StartFailure("\(url) did not answer: \(error)")
    }
    guard status == 200 else { throw StartFailure("\(url) answered \(status)") }
  }

  /// Without the HTTP client: a health check is a process of its own, and the parts of the program that it needs count
  /// as memory of the container from then on.
  private func statusByTCP() throws -> Int {
    let connection = try LoopbackConnection(host: host, port: port)
    try connection.send("GET \(Self.path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    let head = try connection.received(upTo: 64)
    // `HTTP/1.1 200 OK`
    guard let status = head.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap({ Int($0) }) else {
      throw StartFailure("no HTTP")
    }
    return status
  }

  private func statusByTLS() async throws -> Int {
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
    return Int(try result.get())
  }
}
