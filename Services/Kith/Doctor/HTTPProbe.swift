import AsyncHTTPClient
import NIOCore
import NIOPosix

/// One GET request, to find out whether somebody answers.
enum HTTPProbe {
  enum Answer {
    /// The status, and the header `Date`.
    case answered(UInt, date: String?)
    case failed(String)
  }

  /// Waits for five seconds at most.
  static func get(_ url: String, verifiesCertificate: Bool = true) async -> Answer {
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.tlsConfiguration = .clientDefault
    if !verifiesCertificate { configuration.tlsConfiguration?.certificateVerification = .none }
    let client = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    let answer: Answer
    do {
      let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
      answer = .answered(response.status.code, date: response.headers.first(name: "Date"))
    } catch { answer = .failed(String(describing: error)) }
    // `try?`: the client has no request any more that could fail.
    try? await client.shutdown()
    return answer
  }

  /// Opens a connection and closes it. nil when that worked, else the reason.
  static func connect(host: String, port: Int) async -> String? {
    do {
      try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(.seconds(5))
        .connect(host: host, port: port).get().close()
      return nil
    } catch { return String(describing: error) }
  }
}
