import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import Wire

/// POST requests with JSON to a provider, each with a deadline for all of it and a limit for its answer.
struct ProviderHTTP: Sendable {
  struct Response: Sendable {
    let status: Int
    let retryAfter: String?
    let body: Data
  }

  private let base: String
  private let headers: [(String, String)]
  /// An error is a few lines of JSON.
  private static let errorBytesMax = 256 * 1024

  init(base: String, headers: [(String, String)]) {
    self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
    self.headers = headers
  }

  /// - Throws: ``ProviderError`` when there is no whole answer in time.
  func post(_ path: String, _ json: Data, bytesMax: Int, timeout: Duration) async throws -> Response {
    try await withinTime(timeout) {
      try await collected(try await execute(path, json), bytesMax: bytesMax)
    }
  }

  /// Sends each event of an event stream to `onEvent`, until that returns false or the stream ends. Another answer than
  /// 200 with an event stream is returned whole.
  ///
  /// - Throws: ``ProviderError``, and what `onEvent` throws.
  func stream(
    _ path: String, _ json: Data, bytesMax: Int, timeout: Duration,
    onEvent: @escaping @Sendable (EventStreamReader.Event) async throws -> Bool
  ) async throws -> Response? {
    try await withinTime(timeout) {
      let response = try await execute(path, json)
      let type = response.headers.first(name: "content-type") ?? ""
      guard response.status == .ok, type.hasPrefix("text/event-stream") else {
        return try await collected(response, bytesMax: Self.errorBytesMax)
      }
      var reader = EventStreamReader()
      var body = response.body.makeAsyncIterator()
      var received = 0
      while let buffer = try await Self.connected({ try await body.next() }) {
        received += buffer.readableBytes
        guard received <= bytesMax else { throw ProviderError(.unreadable) }
        for event in reader.read(buffer.readableBytesView) where try await !onEvent(event) { return nil }
      }
      for event in reader.end() where try await !onEvent(event) { return nil }
      return nil
    }
  }

  private func execute(_ path: String, _ json: Data) async throws -> HTTPClientResponse {
    var request = HTTPClientRequest(url: base + path)
    request.method = .POST
    for (name, value) in headers { request.headers.add(name: name, value: value) }
    request.headers.add(name: "content-type", value: "application/json")
    request.body = .bytes(ByteBuffer(data: json))
    let whole = request
    return try await Self.connected { try await Self.client.execute(whole, deadline: .distantFuture) }
  }

  private func collected(_ response: HTTPClientResponse, bytesMax: Int) async throws -> Response {
    let status = Int(response.status.code)
    let limit = (200..<300).contains(status) ? bytesMax : Self.errorBytesMax
    let body = try await Self.connected {
      do { return try await response.body.collect(upTo: limit) } catch is NIOTooManyBytesError {
        throw ProviderError(.unreadable, status: status)
      }
    }
    return Response(
      status: status, retryAfter: response.headers.first(name: "retry-after"), body: Data(buffer: body))
  }

  /// Whatever goes wrong with a connection becomes a ``ProviderError``.
  private static func connected<T>(_ operation: () async throws -> T) async throws -> T {
    do { return try await operation() } catch let error as ProviderError { throw error } catch {
      try Task.checkCancellation()
      throw ProviderError(.unreachable)
    }
  }

  /// Cancels the operation when its time is over. The client's own deadline ends with the head of the answer.
  private func withinTime<T: Sendable>(
    _ timeout: Duration, _ operation: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    let limit = Deadline.remaining(of: timeout)
    return try await withThrowingTaskGroup(of: T?.self) { group in
      group.addTask { try await operation() }
      group.addTask {
        try await Task.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      guard let first = try await group.next(), let result = first else { throw ProviderError(.timedOut) }
      return result
    }
  }

  /// The client for providers. It has no read timeout, as a model may think for minutes before its first byte.
  private static let client: HTTPClient = {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow, timeout: .init(connect: .seconds(5), write: .seconds(30)),
      connectionPool: .init(idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: 64))
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
  }()
}
