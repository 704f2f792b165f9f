import Foundation
import Prometheus
import Web
import Wire

/// The routes that the gateway serves itself: health, the merged OpenAPI document, its pages, its metrics.
struct LocalRoutes: Sendable {
  let health: GatewayHealth
  let openAPI: MergedOpenAPI
  let metrics: @Sendable () async -> GatewayMetrics
  let isReady: @Sendable () -> Bool
  let showsPages: Bool

  /// - Parameter isInternal: whether the caller may read metrics and the health of each service.
  /// - Returns: nil when this caller may not see the route, or when pages are switched off.
  func response(to route: LocalRoute, isInternal: Bool) async -> LocalResponse? {
    let response = await content(of: route, isInternal: isInternal)
    return route.isHealth || route == .metrics ? response?.adding(LocalResponse.noStore) : response
  }

  private func content(of route: LocalRoute, isInternal: Bool) async -> LocalResponse? {
    switch route {
    case .root:
      return LocalResponse(
        200,
        json: [
          "name": "kith", "version": Kith.version, "health": "/health", "docs": "/docs", "status": "ok",
          "message": "Kith is running",
        ])
    case .health:
      var health = await health.health()
      let status = health.status == "ok" ? 200 : 503
      if !isInternal { health.services = nil }
      return LocalResponse(status, json: health)
    case .apiHealth, .status:
      let health = await health.health()
      let isHealthy = health.status == "ok"
      return LocalResponse(
        isHealthy ? 200 : 503,
        json: ["name": "kith", "version": Kith.version, "status": isHealthy ? "healthy" : "unhealthy"])
    case .live: return LocalResponse(200, json: ["status": "ok"])
    case .ready:
      let ready = isReady()
      return LocalResponse(ready ? 200 : 503, json: ["status": ready ? "ok" : "unavailable"])
    case .openAPI: return LocalResponse(200, json: await openAPI.document())
    case .metrics:
      guard isInternal else { return nil }
      return LocalResponse(200, PrometheusText.contentType, body: Array(await metrics().text().utf8))
    case .docs, .docsScript, .swaggerUIStyle, .swaggerUIScript, .reference, .referenceScript, .redocScript:
      return showsPages ? DocumentationPages.response(to: route) : nil
    }
  }
}
