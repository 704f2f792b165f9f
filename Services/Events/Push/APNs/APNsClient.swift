import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOSSL
import ServiceLifecycle
import Synchronization
import Web
import Wire

/// Sends notifications to APNs over HTTP/2. There is one connection for each of Apple's servers, with as many streams
/// as it allows; further requests wait for a stream.
final class APNsClient: Service {
  private struct State {
    var client: HTTPClient?
    /// Replaced clients, whose last requests may be in flight.
    var replaced: [HTTPClient] = []
    var isStopped = false
  }

  private let settings: APNsSettings
  private let now: @Sendable () -> Date
  private let state = Mutex(State())

  /// Longer than APNs takes to answer.
  private static let timeout = TimeAmount.seconds(10)
  private static let closeTimeout = Duration.seconds(5)

  init(_ settings: APNsSettings, now: @escaping @Sendable () -> Date) {
    self.settings = settings
    self.now = now
  }

  /// Closes the connections at the end. Services that send stop before.
  func run() async throws {
    // `try?`: a cancelled task closes the connections as well.
    try? await gracefulShutdown()
    let clients = state.withLock { state in
      defer { (state.client, state.replaced, state.isStopped) = (nil, [], true) }
      return [state.client].compactMap(\.self) + state.replaced
    }
    for client in clients { await Self.close(client) }
  }

  /// Closes the connections of a client, and waits for that for some seconds: a stream that does not end keeps its
  /// connection open. What is still open then ends with the process.
  private static func close(_ client: HTTPClient) async {
    let (isClosed, continuation) = AsyncStream.makeStream(of: Void.self)
    Task.detached {
      // `try?`: connections that cannot be closed properly end with the process.
      try? await client.shutdown()
      continuation.finish()
    }
    let limit = Task {
      // `try?`: cancelled once they are closed.
      try? await Task.sleep(for: closeTimeout)
      continuation.finish()
    }
    for await _ in isClosed {}
    limit.cancel()
  }

  /// Sends a notification once, or a second time where APNs takes the provider token for expired.
  ///
  /// - Throws: when APNs cannot be reached, or there is no answer: it may or may not have accepted the notification.
  func send(_ notification: APNsNotification, to environment: APNsEnvironment) async throws -> APNsResponse {
    let token = try settings.token.current(at: now())
    let response = try await send(notification, to: environment, token)
    guard case .refused(let refusal) = response, refusal.reason == "ExpiredProviderToken",
      try settings.token.replace(token, at: now())
    else { return response }
    return try await send(notification, to: environment, settings.token.current(at: now()))
  }

  /// How long the present provider token cannot be replaced.
  func tokenLifetimeMinLeft() throws -> Duration {
    let now = now()
    let age = Int(now.timeIntervalSince1970) - (try settings.token.current(at: now).issuedAt)
    return .seconds(max(60, ProviderToken.lifetimeSecondsMin - age))
  }

  /// The next request opens a new connection.
  func replaceConnections() {
    let client = state.withLock { state in
      defer { state.client = nil }
      if let client = state.client { state.replaced.append(client) }
      return state.client
    }
    guard let client else { return }
    Task {
      // `try?`: it is not cancelled. By then the last requests have ended.
      try? await Task.sleep(for: .seconds(30))
      let isOurs = state.withLock { state in
        guard let index = state.replaced.firstIndex(where: { $0 === client }) else { return false }
        state.replaced.remove(at: index)
        return true
      }
      if isOurs { await Self.close(client) }
    }
  }

  private func send(
    _ notification: APNsNotification, to environment: APNsEnvironment, _ token: ProviderToken.Issued
  ) async throws -> APNsResponse {
    var request = HTTPClientRequest(
      url: "\(settings.urls[environment] ?? "")/3/device/\(notification.deviceToken)")
    request.method = .POST
    request.headers.add(name: "authorization", value: "bearer \(token.text)")
    request.headers.add(name: "apns-topic", value: settings.topic)
    request.headers.add(name: "apns-push-type", value: notification.type.rawValue)
    request.headers.add(name: "apns-priority", value: "\(notification.priority)")
    request.headers.add(name: "apns-expiration", value: "\(Int(notification.expiresAt.timeIntervalSince1970))")
    request.headers.add(name: "apns-id", value: notification.id)
    if let collapseID = notification.collapseID { request.headers.add(name: "apns-collapse-id", value: collapseID) }
    request.body = .bytes(ByteBuffer(data: notification.payload))
    let response = try await client().execute(request, timeout: Self.timeout)
    // The client falls back to HTTP/1.1 where a server does not offer HTTP/2, and APNs speaks nothing else.
    guard response.version == .http2 else { throw APNsUnreachable("does not speak HTTP/2") }
    let body = try await response.body.collect(upTo: 16 * 1024)
    return APNsResponse(
      status: Int(response.status.code), body: Data(buffer: body),
      retryAfter: response.headers.first(name: "retry-after"))
  }

  private func client() throws -> HTTPClient {
    try state.withLock { state in
      guard !state.isStopped else { throw CancellationError() }
      if let client = state.client { return client }
      let client = HTTPClient(
        eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
      state.client = client
      return client
    }
  }

  private var configuration: HTTPClient.Configuration {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.minimumTLSVersion = .tlsv12
    if let extraRoots = settings.extraRoots { tls.additionalTrustRoots = [.file(extraRoots)] }
    // APNs asks to keep connections open for hours. The time to connect includes that for a free stream.
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: tls, redirectConfiguration: .disallow,
      timeout: .init(connect: .seconds(10), read: Self.timeout),
      connectionPool: .init(idleTimeout: .hours(1)))
    configuration.httpVersion = .automatic
    configuration.http2ConnectionDebugInitializer = { DeferredSettingsHandler.add(to: $0) }
    return configuration
  }
}

/// APNs, or what is in its place, cannot be used.
struct APNsUnreachable: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

extension APNsResponse {
  private struct Body: Decodable {
    let reason: String?
    /// Milliseconds since 1970.
    let timestamp: Double?
  }

  init(status: Int, body: Data, retryAfter: String?) {
    guard status != 200 else {
      self = .accepted
      return
    }
    // `try?`: an answer of a proxy has another body; its status says enough.
    let body = try? JSONDecoder().decode(Body.self, from: body)
    self = .refused(
      APNsRefusal(
        status: status, reason: body?.reason ?? "",
        timestamp: body?.timestamp.map { Date(timeIntervalSince1970: $0 / 1000) },
        retryAfterSeconds: retryAfter.flatMap { Int($0) }.flatMap { (0...86_400).contains($0) ? $0 : nil }))
  }
}
