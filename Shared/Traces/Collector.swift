import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat

/// What takes spans by OTLP over HTTP, in JSON.
package struct Collector: Sendable {
  private let url: String
  private let headers: [(name: String, value: String)]
  private let teller: Teller

  /// - Parameters:
  ///   - url: where spans are posted to.
  ///   - headers: what the collector wants to see, such as a key.
  package init(_ url: String, headers: [(name: String, value: String)] = [], from teller: Teller) {
    self.url = url
    self.headers = headers
    self.teller = teller
  }

  enum Answer: Sendable {
    /// All but so many, and what it says of that.
    case taken(rejected: Int, because: String)
    /// It will never be taken.
    case refused(String)
    case away(String, retryAfter: Duration? = nil)
  }

  func take(_ spans: [EndedSpan]) async -> Answer {
    do {
      var request = HTTPClientRequest(url: url)
      request.method = .POST
      request.headers.add(name: "content-type", value: "application/json")
      for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
      request.body = .bytes(ByteBuffer(data: try JSONEncoder().encode(OTLP(spans, from: teller))))
      // For good: the exporter has a limit of its own, by which it calls this off.
      let response = try await Self.http.execute(request, deadline: .distantFuture)
      return try await Self.answer(response)
    } catch {
      // Of an error nothing but its kind: its words may hold the address, and that a key.
      return .away((error as? HTTPClientError).map { "\($0)" } ?? "\(type(of: error))")
    }
  }

  private static func answer(_ response: HTTPClientResponse) async throws -> Answer {
    let body = try await response.body.collect(upTo: 64 * 1024)
    switch response.status.code {
    case 200..<300:
      // `try?`: what a collector says beside its yes may be anything.
      let partly = try? JSONDecoder().decode(ExportAnswer.self, from: body).partialSuccess
      return .taken(
        rejected: partly?.rejectedSpans?.count ?? 0, because: String((partly?.errorMessage ?? "").prefix(200)))
    case 429, 502, 503, 504:
      let seconds = response.headers.first(name: "retry-after").flatMap { Int($0) }
      return .away("HTTP \(response.status.code)", retryAfter: seconds.map { .seconds(min(max($0, 0), 60)) })
    default: return .refused("HTTP \(response.status.code)")
    }
  }

  /// Connections of their own, so that a collector that hangs takes none from the services.
  private static let http: HTTPClient = {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow, timeout: .init(connect: .seconds(2)),
      connectionPool: .init(idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: 8))
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
  }()
}

/// `ExportTraceServiceResponse`: how many spans the collector did not want.
private struct ExportAnswer: Decodable {
  struct Partly: Decodable {
    let rejectedSpans: Whole?
    let errorMessage: String?
  }

  let partialSuccess: Partly?

  /// A 64-bit number, which JSON of Protocol Buffers writes as text; readers take both.
  struct Whole: Decodable {
    let count: Int

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      // `try?`: then it is a number.
      let number = try (try? value.decode(String.self)).map { Int($0) ?? 0 } ?? value.decode(Int.self)
      count = max(0, number)
    }
  }
}
