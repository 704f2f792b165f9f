import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization
import Web

/// A fake OpenTelemetry collector on loopback that records the spans it accepts.
package final class CollectorServer: Sendable {
  /// How it responds.
  package enum Behavior: Sendable {
    case normal
    /// Responds with a status a number of times, then normally.
    case failing(Int, with: Int, retryAfter: String? = nil)
    /// Reads the request and never responds.
    case hanging
    /// Responds with this body.
    case responding(String)
  }

  private struct State {
    var behavior = Behavior.normal
    var bodies: [Data] = []
    var headers: [[String: String]] = []
    var times: [ContinuousClock.Instant] = []
  }

  private let state = Mutex(State())
  private let port: Int

  package init() throws { port = try freePort() }

  package var behavior: Behavior {
    get { state.withLock { $0.behavior } }
    set { state.withLock { $0.behavior = newValue } }
  }

  package var url: String { "http://127.0.0.1:\(port)" }
  /// The times of all requests, whatever the response.
  package var times: [ContinuousClock.Instant] { state.withLock { $0.times } }
  package var headers: [[String: String]] { state.withLock { $0.headers } }
  /// The bodies that it accepted.
  package var bodies: [Data] { state.withLock { $0.bodies } }

  private func record(_ request: Request, _ body: Data) -> Behavior {
    state.withLock { state in
      state.times.append(.now)
      state.headers.append(
        request.headers.reduce(into: [:]) { $0[$1.name.rawName.lowercased()] = $1.value })
      let behavior = state.behavior
      switch behavior {
      case .normal, .responding: state.bodies.append(body)
      case .failing(let left, let status, let after):
        state.behavior = left > 1 ? .failing(left - 1, with: status, retryAfter: after) : .normal
      case .hanging: break
      }
      return behavior
    }
  }

  private func server(_ listening: ListeningPort) -> some ApplicationProtocol {
    let router = Router()
    router.post("/v1/traces") { [self] request, _ -> Response in
      let body = Data(buffer: try await request.body.collect(upTo: 16_000_000))
      switch record(request, body) {
      case .normal: return Response(status: .ok, body: .init(byteBuffer: .init(string: "{}")))
      case .responding(let text): return Response(status: .ok, body: .init(byteBuffer: .init(string: text)))
      case .failing(_, let status, let after):
        return Response(status: .init(code: status), headers: after.map { [.retryAfter: $0] } ?? [:])
      case .hanging:
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(600)) }
        return Response(status: .ok)
      }
    }
    return loopbackServer(router, listening, port: port)
  }

  /// Listens while `body` runs.
  package func whileRunning<T>(_ body: () async throws -> T) async throws -> T {
    let listening = ListeningPort()
    return try await running([server(listening)]) {
      _ = try await listening.number
      return try await body()
    }
  }
}

package func withCollector(_ body: (CollectorServer) async throws -> Void) async throws {
  let collector = try CollectorServer()
  try await collector.whileRunning { try await body(collector) }
}

/// A span as the collector received it.
///
/// `@unchecked Sendable`: objects from `JSONSerialization` are never mutated.
package struct ReceivedSpan: @unchecked Sendable {
  package let json: [String: Any]
  package let resource: [String: String]
  package let scope: String

  package var name: String { json["name"] as? String ?? "" }
  package var trace: String { json["traceId"] as? String ?? "" }
  package var id: String { json["spanId"] as? String ?? "" }
  package var parent: String? { json["parentSpanId"] as? String }
  package var kind: Int? { json["kind"] as? Int }
  package var isError: Bool { (json["status"] as? [String: Any])?["code"] as? Int == 2 }
  package var service: String { resource["service.name"] ?? "" }
  package var attributes: [String: String] { Self.values(json["attributes"]) }

  fileprivate static func values(_ list: Any?) -> [String: String] {
    (list as? [[String: Any]] ?? []).reduce(into: [:]) { values, attribute in
      let value = attribute["value"] as? [String: Any]
      values[attribute["key"] as? String ?? ""] = (value?["stringValue"] ?? value?["intValue"]) as? String
    }
  }
}

extension CollectorServer {
  package var spans: [ReceivedSpan] { bodies.flatMap { Self.spans(in: $0) } }

  private static func spans(in body: Data) -> [ReceivedSpan] {
    // `try?`: a body that is not JSON has no spans, which fails the test.
    let json = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
    return (json?["resourceSpans"] as? [[String: Any]] ?? []).flatMap { resourceSpans in
      let resource = ReceivedSpan.values((resourceSpans["resource"] as? [String: Any])?["attributes"])
      return (resourceSpans["scopeSpans"] as? [[String: Any]] ?? []).flatMap { scopeSpans in
        let scope = (scopeSpans["scope"] as? [String: Any])?["name"] as? String ?? ""
        return (scopeSpans["spans"] as? [[String: Any]] ?? []).map {
          ReceivedSpan(json: $0, resource: resource, scope: scope)
        }
      }
    }
  }
}
