import AsyncHTTPClient
import Foundation
import NIOCore

/// Waits until other programs are ready, by the same path and status as ``HealthCheck``. For a deployment in which one
/// program starts after others.
struct ReadinessWait {
  private let urls: [String]
  private let limit: Duration
  private static let requestTimeout = Duration.seconds(3)
  /// Between two requests to the same program.
  private static let pause = Duration.milliseconds(150)

  /// - Parameters:
  ///   - programs: their base URLs.
  ///   - limit: how long to wait for all of them together.
  /// - Throws: ``StartFailure`` for something else than a base URL.
  init(forPrograms programs: [String], limit: Duration = .seconds(300)) throws {
    urls = try programs.map { text in
      if let socket = SocketURL.base(text) { return socket + HealthCheck.path }
      guard let url = URLComponents(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false,
        ["", "/"].contains(url.path), url.user == nil, url.query == nil, url.fragment == nil
      else { throw StartFailure("\(text) is not http://host:port, https://host:port or unix:/path") }
      return (text.hasSuffix("/") ? String(text.dropLast()) : text) + HealthCheck.path
    }
    self.limit = limit
  }

  /// - Throws: ``StartFailure`` that names those that are not ready in time, with their last answers.
  func run() async throws {
    let client = HTTPClient(
      eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: Self.clientConfiguration)
    let late = await late(through: client)
    try await client.shutdown()
    guard late.isEmpty else {
      throw StartFailure("not ready within \(limit.components.seconds) seconds: \(late.joined(separator: "; "))")
    }
  }

  private static var clientConfiguration: HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, timeout: .init(connect: .seconds(1)))
    // Another request follows soon, to the address that the name has by then.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    return configuration
  }

  /// The programs that are not ready in time, in the order of the arguments.
  private func late(through client: HTTPClient) async -> [String] {
    let end = ContinuousClock.now + limit
    let reasons = await withTaskGroup(of: (String, String?).self) { [urls] group in
      for url in urls { group.addTask { (url, await Self.reason(of: url, until: end, through: client)) } }
      return await group.reduce(into: [String: String]()) { reasons, each in reasons[each.0] = each.1 }
    }
    return urls.compactMap { url in reasons[url].map { "\(url) \($0)" } }
  }

  /// Why a program is not ready at `end`; nil as soon as it is ready.
  ///
  /// A request that `end` cuts short says nothing of the program: the answer before it stays the reason.
  private static func reason(
    of url: String, until end: ContinuousClock.Instant, through client: HTTPClient
  ) async -> String? {
    var lastReason: String?
    while true {
      let timeLeft = max(end - .now, pause)
      guard let reason = await reason(of: url, within: min(requestTimeout, timeLeft), through: client) else {
        return nil
      }
      let isCutShort = timeLeft < requestTimeout && ContinuousClock.now >= end
      if !isCutShort || lastReason == nil { lastReason = reason }
      if ContinuousClock.now + pause >= end { return lastReason }
      // `try?`: nothing cancels it.
      try? await Task.sleep(for: pause)
    }
  }

  /// Why a program is not ready now; nil if it is.
  private static func reason(of url: String, within timeout: Duration, through client: HTTPClient) async -> String? {
    do {
      let response = try await client.execute(HTTPClientRequest(toProcessAt: url), timeout: .init(timeout))
      // Reads the response to its end, so that the connection is used again.
      _ = try await response.body.collect(upTo: 64 * 1024)
      return response.status == .ok ? nil : "answered \(response.status.code)"
    } catch { return "did not answer: \(error)" }
  }
}
