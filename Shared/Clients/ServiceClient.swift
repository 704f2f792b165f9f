import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Web
import Wire

/// Calls one service: with this process's key, the request's id and trace, a deadline, and failures as they were thrown.
struct ServiceClient: Sendable {
  private let service: ServiceName
  private let neighbours: Neighbours
  private let key: String?
  private let logger: Logger
  private static let bodyBytesMax = 4 * 1024 * 1024

  init(_ service: ServiceName, in surroundings: Surroundings) {
    self.service = service
    self.neighbours = surroundings.neighbours
    self.key = surroundings.settings.nonempty("SERVICE_KEY")
    self.logger = surroundings.logger
  }

  /// - Throws: the ``Failure`` that the service answered with; ``Failure/unavailable`` when it did not answer in time,
  ///   after which a call that changes something may or may not have done so.
  func call<Reply: Decodable>(
    _ method: HTTPMethod, _ path: String, query: [String: String] = [:], body: (any Encodable & Sendable)? = nil,
    idempotencyKey: String? = nil, timeout: TimeAmount = .seconds(5), as reply: Reply.Type = Reply.self
  ) async throws -> Reply {
    guard let url = neighbours.urls(of: service).randomElement() else { throw Failure.unavailable }
    var request = HTTPClientRequest(url: url + path + Self.encoded(query))
    request.method = method
    request.headers = headers(idempotencyKey: idempotencyKey)
    if let body {
      request.headers.add(name: "content-type", value: "application/json")
      request.body = .bytes(ByteBuffer(data: try JSON.encodeExact(body)))
    }
    let (status, data) = try await answer(to: request, timeout: timeout)
    guard (200..<300).contains(status) else {
      // `try?`: whatever stands in the way of our services may answer in its own words.
      let failure = (try? JSON.decode(Problem.self, from: data))?.failure ?? .unavailable
      guard failure.code == Failure.wrongServiceKey.code else { throw failure }
      // That is between the processes and whoever configured them; our own caller's key may be fine.
      logger.error("refused by a service: check SERVICE_KEY", metadata: ["by": "\(service.rawValue)"])
      throw Failure.unavailable
    }
    return try JSON.decode(Reply.self, from: data)
  }

  private func answer(to request: HTTPClientRequest, timeout: TimeAmount) async throws -> (Int, Data) {
    do {
      let response = try await Outbound.http.execute(request, timeout: timeout)
      let body = try await response.body.collect(upTo: Self.bodyBytesMax)
      return (Int(response.status.code), Data(buffer: body))
    } catch let error as CancellationError {
      throw error
    } catch {
      throw Failure.unavailable
    }
  }

  private func headers(idempotencyKey: String?) -> HTTPHeaders {
    var headers = HTTPHeaders()
    if let key { headers.add(name: Header.serviceKey, value: key) }
    if let idempotencyKey { headers.add(name: Header.idempotencyKey, value: idempotencyKey) }
    if let trace = Trace.current {
      headers.add(name: Header.requestID, value: trace.requestID)
      if let traceparent = trace.traceparent { headers.add(name: Header.traceparent, value: traceparent) }
    }
    return headers
  }

  private static func encoded(_ query: [String: String]) -> String {
    guard !query.isEmpty else { return "" }
    let parts = query.sorted { $0.key < $1.key }.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
    return "?" + parts.joined(separator: "&")
  }
}
