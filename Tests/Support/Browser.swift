import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A test client that sends and receives JSON over a real socket, as apps do.
package struct Browser: Sendable {
  package let base: String
  package var headers: [String: String] = [:]

  /// Waits longer for an answer than services wait for each other, as a busy machine may take its time.
  package static let client: HTTPClient = {
    var configuration = HTTPClient.Configuration(
      redirectConfiguration: .disallow,
      timeout: .init(connect: .seconds(30), read: .seconds(60)),
      connectionPool: .init(idleTimeout: .seconds(30), concurrentHTTP1ConnectionsPerHostSoftLimit: 64))
    // A refused connection is reported at once.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
  }()

  package init(_ base: String) { self.base = base }

  /// `@unchecked Sendable`: objects from `JSONSerialization` are never mutated.
  package struct Reply: @unchecked Sendable {
    package let status: Int
    package let headers: HTTPHeaders
    package let body: Data
    package let json: Any?

    package subscript(_ name: String) -> Any? { (json as? [String: Any])?[name] }
    package func string(_ name: String) -> String { self[name] as? String ?? "" }
    package func int(_ name: String) -> Int? { (self[name] as? NSNumber)?.intValue }
    package func bool(_ name: String) -> Bool? { (self[name] as? NSNumber)?.boolValue }
    package var list: [[String: Any]] { json as? [[String: Any]] ?? [] }
    package var text: String { String(decoding: body, as: UTF8.self) }
  }

  package func bearing(_ token: String) -> Browser { with(["Authorization": "Bearer \(token)"]) }

  package func with(_ headers: [String: String]) -> Browser {
    var browser = self
    browser.headers.merge(headers) { $1 }
    return browser
  }

  package func get(_ path: String) async throws -> Reply { try await send(.GET, path) }

  package func delete(_ path: String) async throws -> Reply { try await send(.DELETE, path) }

  package func post(_ path: String, _ body: [String: any Sendable] = [:]) async throws -> Reply {
    try await send(.POST, path, body: try JSONSerialization.data(withJSONObject: body))
  }

  package func send(_ method: HTTPMethod, _ path: String, json: [String: any Sendable]) async throws -> Reply {
    try await send(method, path, body: try JSONSerialization.data(withJSONObject: json))
  }

  package func send(_ method: HTTPMethod, _ path: String, body: Data? = nil) async throws -> Reply {
    var request = HTTPClientRequest(url: base + path)
    request.method = method
    for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
    if let body {
      if !request.headers.contains(name: "content-type") {
        request.headers.add(name: "content-type", value: "application/json")
      }
      request.body = .bytes(ByteBuffer(data: body))
    }
    let response = try await Self.client.execute(request, timeout: .seconds(60))
    let data = Data(buffer: try await response.body.collect(upTo: 64 * 1024 * 1024))
    // `try?`: nil for a body that is not JSON.
    let json = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    return Reply(status: Int(response.status.code), headers: response.headers, body: data, json: json)
  }
}
