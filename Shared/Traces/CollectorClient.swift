import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat

/// Sends spans to an OpenTelemetry collector by OTLP over HTTP, in JSON.
package struct CollectorClient: Sendable {
  private let url: String
  private let headers: [(name: String, value: String)]
  private let source: TelemetrySource

  /// - Parameters:
  ///   - url: the URL that spans are posted to.
  ///   - headers: further request headers, such as an API key.
  package init(_ url: String, headers: [(name: String, value: String)] = [], from source: TelemetrySource) {
    self.url = url
    self.headers = headers
    self.source = source
  }

  enum ExportResult: Sendable {
    /// Accepted, except `rejected` spans, with the collector's message.
    case accepted(rejected: Int, message: String)
    /// A retry would be refused as well.
    case refused(String)
    /// A retry may succeed.
    case unavailable(String, retryAfter: Duration? = nil)
  }

  func export(_ spans: [EndedSpan]) async -> ExportResult {
    do {
      var request = HTTPClientRequest(url: url)
      request.method = .POST
      request.headers.add(name: "content-type", value: "application/json")
      for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
      request.body = .bytes(ByteBuffer(data: try JSONEncoder().encode(OTLP(spans, from: source))))
      // No deadline: the exporter has its own timeout, by which it cancels this task.
      let response = try await Self.http.execute(request, deadline: .distantFuture)
      return try await Self.result(response)
    } catch {
      // Only the kind of the error: its description may contain the URL, and that an API key.
      return .unavailable((error as? HTTPClientError).map { "\($0)" } ?? "\(type(of: error))")
    }
  }

  private static func result(_ response: HTTPClientResponse) async throws -> ExportResult {
    let body = try await response.body.collect(upTo: 64 * 1024)
    switch response.status.code {
    case 200..<300:
      // `try?`: the body of a success may be anything.
      let partial = try? JSONDecoder().decode(ExportResponse.self, from: body).partialSuccess
      return .accepted(
        rejected: partial?.rejectedSpans?.value ?? 0, message: String((partial?.errorMessage ?? "").prefix(200)))
    case 429, 502, 503, 504:
      let seconds = response.headers.first(name: "retry-after").flatMap { Int($0) }
      return .unavailable("HTTP \(response.status.code)", retryAfter: seconds.map { .seconds(min(max($0, 0), 60)) })
    default: return .refused("HTTP \(response.status.code)")
    }
  }

  /// A client of its own, so that a collector that hangs takes no connections from the services.
  private static let http: HTTPClient = {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow, timeout: .init(connect: .seconds(2)),
      connectionPool: .init(idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: 8))
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
  }()
}

/// `ExportTraceServiceResponse`: how many spans the collector rejected.
private struct ExportResponse: Decodable {
  struct PartialSuccess: Decodable {
    let rejectedSpans: ProtobufInt64?
    let errorMessage: String?
  }

  let partialSuccess: PartialSuccess?

  /// An `int64`, which the JSON mapping of Protocol Buffers writes as a string; parsers accept numbers as well.
  struct ProtobufInt64: Decodable {
    let value: Int

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      // `try?`: if it is no string it must be a number.
      let number = try (try? container.decode(String.self)).map { Int($0) ?? 0 } ?? container.decode(Int.self)
      value = max(0, number)
    }
  }
}
