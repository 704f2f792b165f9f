import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization
import Web

/// A collector of spans on loopback: it remembers what it took, and fails as it is told.
package final class CollectorServer: Sendable {
  package enum Mood: Sendable {
    case well
    /// Answers so that often, then takes what comes.
    case failing(Int, with: Int, retryAfter: String? = nil)
    /// Takes the request and never answers.
    case hanging
    /// Answers with this body.
    case saying(String)
  }

  private struct State {
    var mood = Mood.well
    var bodies: [Data] = []
    var headers: [[String: String]] = []
    var times: [ContinuousClock.Instant] = []
  }

  private let state = Mutex(State())
  private let port: Int

  package init() throws { port = try freePort() }

  package var mood: Mood {
    get { state.withLock { $0.mood } }
    set { state.withLock { $0.mood = newValue } }
  }

  package var url: String { "http://127.0.0.1:\(port)" }
  /// When it was asked, whatever it answered.
  package var times: [ContinuousClock.Instant] { state.withLock { $0.times } }
  package var headers: [[String: String]] { state.withLock { $0.headers } }
  /// What it took, as it came.
  package var bodies: [Data] { state.withLock { $0.bodies } }

  private func answer(_ request: Request, _ body: Data) -> Mood {
    state.withLock { state in
      state.times.append(.now)
      state.headers.append(
        request.headers.reduce(into: [:]) { $0[$1.name.rawName.lowercased()] = $1.value })
      let mood = state.mood
      switch mood {
      case .well, .saying: state.bodies.append(body)
      case .failing(let left, let status, let after):
        state.mood = left > 1 ? .failing(left - 1, with: status, retryAfter: after) : .well
      case .hanging: break
      }
      return mood
    }
  }

  private func server(_ listening: Listening) -> some ApplicationProtocol {
    let router = Router()
    router.post("/v1/traces") { [self] request, _ -> Response in
      let body = Data(buffer: try await request.body.collect(upTo: 16_000_000))
      switch answer(request, body) {
      case .well: return Response(status: .ok, body: .init(byteBuffer: .init(string: "{}")))
      case .saying(let words): return Response(status: .ok, body: .init(byteBuffer: .init(string: words)))
      case .failing(_, let status, let after):
        return Response(status: .init(code: status), headers: after.map { [.retryAfter: $0] } ?? [:])
      case .hanging:
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(600)) }
        return Response(status: .ok)
      }
    }
    return Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { channel in listening.opened(on: channel.localAddress?.port ?? 0) },
      logger: quiet)
  }

  /// Is there for as long as `body` takes, and then away.
  package func there<T>(_ body: () async throws -> T) async throws -> T {
    let listening = Listening()
    return try await running([server(listening)]) {
      _ = try await listening.number
      return try await body()
    }
  }
}

package func withCollector(_ body: (CollectorServer) async throws -> Void) async throws {
  let collector = try CollectorServer()
  try await collector.there { try await body(collector) }
}

/// A span as the collector got it.
///
/// `@unchecked`: what JSONSerialization has made is never changed.
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
    // `try?`: what is not JSON has no spans, which a test will miss.
    let json = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
    return (json?["resourceSpans"] as? [[String: Any]] ?? []).flatMap { told in
      let resource = ReceivedSpan.values((told["resource"] as? [String: Any])?["attributes"])
      return (told["scopeSpans"] as? [[String: Any]] ?? []).flatMap { scoped in
        let scope = (scoped["scope"] as? [String: Any])?["name"] as? String ?? ""
        return (scoped["spans"] as? [[String: Any]] ?? []).map {
          ReceivedSpan(json: $0, resource: resource, scope: scope)
        }
      }
    }
  }
}
