import AsyncHTTPClient
import Clients
import Foundation
import NIOFoundationCompat
import Web
import Wire

/// One OpenAPI document of everything that can be called through the gateway, put together from what the services say
/// of themselves. A service that is away is missing until it is back.
actor MergedOpenAPI {
  private let neighbours: Neighbours
  private let own: OpenAPI
  private let publicURL: String
  /// By "service GET /path/{}".
  private let routes: [String: Route]
  private var kept: (document: Data, until: ContinuousClock.Instant)?
  private var underWay: Task<(Data, Bool), Never>?

  /// - Parameter own: what the gateway says of itself.
  init(_ neighbours: Neighbours, own: OpenAPI, routes: [Route], publicURL: String) {
    self.neighbours = neighbours
    self.own = own
    self.publicURL = publicURL
    let named = routes.map { (Self.name($0.service, $0.method.rawValue, $0.path), $0) }
    self.routes = Dictionary(named) { first, _ in first }
  }

  func document() async -> Data {
    if let kept, ContinuousClock.now < kept.until { return kept.document }
    if let underWay { return await underWay.value.0 }
    let task = Task { await merge() }
    underWay = task
    let (document, isComplete) = await task.value
    underWay = nil
    kept = (document, .now + (isComplete ? .seconds(30) : .seconds(1)))
    return document
  }

  private func merge() async -> (Data, Bool) {
    var merged = Merge(Self.parsed(own.body) ?? [:], publicURL: publicURL)
    var isComplete = true
    for service in neighbours.present {
      guard let data = await Self.fetch(service, neighbours), let document = Self.parsed(data) else {
        isComplete = false
        continue
      }
      merged.add(document, of: service) { routes[Self.name(service, $0, $1)] }
    }
    merged.addHeaders()
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
    // `try?`: it came from JSON, so it can be JSON again.
    return ((try? JSONSerialization.data(withJSONObject: merged.document, options: options)) ?? Data(), isComplete)
  }

  private static func parsed(_ data: Data) -> [String: Any]? {
    // `try?`: what is not JSON is as good as nothing.
    (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
  }

  private static func fetch(_ service: ServiceName, _ neighbours: Neighbours) async -> Data? {
    for url in neighbours.urls(of: service) {
      do {
        let response = try await Outbound.http.execute(
          HTTPClientRequest(url: url + "/openapi.json"), timeout: .seconds(2))
        let body = try await response.body.collect(upTo: 4 * 1024 * 1024)
        if response.status == .ok { return Data(buffer: body) }
      } catch { continue }
    }
    return nil
  }

  /// Names of variables do not matter.
  private static func name(_ service: ServiceName, _ method: String, _ path: String) -> String {
    let segments = path.split(separator: "/").map { $0.hasPrefix("{") ? "{}" : $0 }
    return "\(service.rawValue) \(method.uppercased()) /\(segments.joined(separator: "/"))"
  }
}
