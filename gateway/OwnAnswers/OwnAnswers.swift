import Foundation
import Measures
import Web
import Wire

/// What the gateway answers by itself: health, the merged OpenAPI document, its pages, its metrics.
struct OwnAnswers: Sendable {
  let health: GatewayHealth
  let openAPI: MergedOpenAPI
  let metrics: @Sendable () async -> Metrics
  let isReady: @Sendable () -> Bool
  let showsPages: Bool

  /// - Parameter isInsider: this machine itself or a service, who may see more.
  func answer(_ route: OwnRoute, toInsider isInsider: Bool) async -> LocalAnswer? {
    let answer = await content(of: route, toInsider: isInsider)
    return route.isHealth || route == .metrics ? answer?.adding(LocalAnswer.notToBeKept) : answer
  }

  private func content(of route: OwnRoute, toInsider isInsider: Bool) async -> LocalAnswer? {
    switch route {
    case .root:
      return LocalAnswer(
        200,
        json: [
          "name": "kith", "version": Kith.version, "health": "/health", "docs": "/docs", "status": "ok",
          "message": "Kith is running",
        ])
    case .health:
      var health = await health.health()
      let status = health.status == "ok" ? 200 : 503
      if !isInsider { health.services = nil }
      return LocalAnswer(status, json: health)
    case .apiHealth, .status:
      let health = await health.health()
      let isWell = health.status == "ok"
      return LocalAnswer(
        isWell ? 200 : 503,
        json: ["name": "kith", "version": Kith.version, "status": isWell ? "healthy" : "unhealthy"])
    case .live: return LocalAnswer(200, json: ["status": "ok"])
    case .ready:
      let ready = isReady()
      return LocalAnswer(ready ? 200 : 503, json: ["status": ready ? "ok" : "unavailable"])
    case .openAPI: return LocalAnswer(200, json: await openAPI.document())
    case .metrics:
      guard isInsider else { return nil }
      return LocalAnswer(200, PrometheusText.contentType, body: Array(await metrics().text().utf8))
    case .docs: return page("text/html; charset=utf-8", PackageResources.docs_html)
    case .reference: return page("text/html; charset=utf-8", PackageResources.redoc_html)
    case .pagesStyle: return page("text/css; charset=utf-8", PackageResources.pages_css)
    case .pagesScript: return page("text/javascript; charset=utf-8", PackageResources.pages_js)
    }
  }

  private func page(_ type: String, _ bytes: [UInt8]) -> LocalAnswer? {
    guard showsPages else { return nil }
    return LocalAnswer(200, type, headers: [("content-security-policy", Self.policy)], body: bytes)
  }

  /// Everything from here, nothing inline, nothing framed.
  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
