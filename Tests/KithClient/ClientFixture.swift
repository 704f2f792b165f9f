import Foundation
import Support
import Synchronization

@testable import KithClient

extension TestStack {
  /// A client of this stack that waits milliseconds where others wait seconds.
  ///
  /// - Parameters:
  ///   - base: nil: the gateway itself.
  ///   - now: the clock of the phone; nil: that of the server.
  func kithClient(
    at base: String? = nil, apiKey: String? = nil, tokens: any TokenStore = MemoryTokenStore(), attemptsMax: Int = 5,
    now: (@Sendable () -> Date)? = nil, transport: any Transport = URLSessionTransport(),
    live: LiveConnections = LiveConnections(sockets: NIOWebSocketTransport())
  ) throws -> KithClient {
    var retries = RetryPolicy()
    retries.attemptsMax = attemptsMax
    retries.sleep = { _ in try await Task.sleep(for: .milliseconds(5)) }
    let clock = clock
    retries.now = now ?? { clock.now }
    guard let url = URL(string: base ?? gateway.base) else { throw Unexpected(reply: "no URL") }
    return KithClient(
      baseURL: url, apiKey: apiKey, tokens: tokens, retries: retries, transport: transport, live: live)
  }

  /// The same, with a new account.
  func signedUpClient(
    _ name: String, tokens: any TokenStore = MemoryTokenStore(), now: (@Sendable () -> Date)? = nil,
    transport: any Transport = URLSessionTransport(),
    live: LiveConnections = LiveConnections(sockets: NIOWebSocketTransport())
  ) async throws -> KithClient {
    let client = try kithClient(tokens: tokens, now: now, transport: transport, live: live)
    try await client.auth.signUp(email: "\(name)@example.com", password: "correct horse", name: name)
    return client
  }

  /// The same with access tokens of 15 minutes. Those of a sign-in by e-mail live for 30 days.
  func clientWithShortTokens(
    _ name: String, now: (@Sendable () -> Date)? = nil, transport: any Transport = URLSessionTransport(),
    live: LiveConnections = LiveConnections(sockets: NIOWebSocketTransport())
  ) async throws -> KithClient {
    let user = try await signIn(name)
    let client = try kithClient(now: now, transport: transport, live: live)
    try await client.auth.sessions.start(
      TokenPair(accessToken: user.access, refreshToken: user.refresh, expiresIn: 900))
    return client
  }
}

/// Counts the requests to each path.
final class CountingTransport: Transport {
  private let inner = URLSessionTransport()
  private let counts = Mutex<[String: Int]>([:])

  func count(_ path: String) -> Int { counts.withLock { $0[path] ?? 0 } }

  func stream(_ request: HTTPRequest, progress: (@Sendable (Int64) -> Void)?) async throws -> HTTPStream {
    counts.withLock { $0[request.url.path, default: 0] += 1 }
    return try await inner.stream(request, progress: progress)
  }
}

extension Transport {
  /// A request of its own, beside a client's.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try await stream(request, progress: nil).collected()
  }
}
