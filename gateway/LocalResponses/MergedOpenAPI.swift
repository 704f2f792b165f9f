import AsyncHTTPClient
import Clients
import Foundation
import NIOFoundationCompat
import Web
import Wire

/// One OpenAPI document of all routes of the gateway, merged from the documents of the services and cached. While a
/// service cannot be reached, its operations are missing.
struct MergedOpenAPI: Sendable {
  private let serviceAddresses: ServiceAddresses
  private let gateway: OpenAPI
  private let publicURL: String
  /// Keyed by "service GET /path/{}".
  private let routes: [String: Route]
  private let cache = CachedValue<Data>()

  /// - Parameter gateway: the gateway's own document.
  init(_ serviceAddresses: ServiceAddresses, gateway: OpenAPI, routes: [Route], publicURL: String) {
    self.serviceAddresses = serviceAddresses
    self.gateway = gateway
    self.publicURL = publicURL
    let named = routes.map { (Self.name($0.service, $0.method.rawValue, $0.path), $0) }
    self.routes = Dictionary(named) { first, _ in first }
  }

  func document() async -> Data {
    await cache.value {
      let (document, isComplete) = await merge()
      return (document, isComplete ? .seconds(30) : .seconds(1))
    }
  }

  /// - Returns: the document, and whether all services are in it.
  private func merge() async -> (Data, Bool) {
    // `try?`: the gateway's own document is part of the program; a test parses it.
    var merged = OpenAPIMerger((try? gateway.body).flatMap(Self.parsed) ?? [:], publicURL: publicURL)
    var isComplete = true
    for service in serviceAddresses.configured {
      guard let data = await Self.fetch(service, serviceAddresses), let document = Self.parsed(data) else {
        isComplete = false
        continue
      }
      merged.add(document, of: service) { routes[Self.name(service, $0, $1)] }
    }
    merged.addHeaders()
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
    // `try?`: the document was parsed from JSON, so it can be serialized.
    return ((try? JSONSerialization.data(withJSONObject: merged.document, options: options)) ?? Data(), isComplete)
  }

  private static func parsed(_ data: Data) -> [String: Any]? {
    // `try?`: invalid JSON counts as a missing document.
    (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
  }

  private static func fetch(_ service: ServiceName, _ serviceAddresses: ServiceAddresses) async -> Data? {
    for url in serviceAddresses.urls(of: service) {
      do {
        let response = try await OutboundHTTP.client.execute(
          HTTPClientRequest(toProcessAt: url + "/openapi.json"), timeout: .seconds(2))
        let body = try await response.body.collect(upTo: 4 * 1024 * 1024)
        if response.status == .ok { return Data(buffer: body) }
      } catch { continue }
    }
    return nil
  }

  /// The key of a route; the names of path parameters do not matter.
  private static func name(_ service: ServiceName, _ method: String, _ path: String) -> String {
    let segments = path.split(separator: "/").map { $0.hasPrefix("{") ? "{}" : $0 }
    return "\(service.rawValue) \(method.uppercased()) /\(segments.joined(separator: "/"))"
  }
}
