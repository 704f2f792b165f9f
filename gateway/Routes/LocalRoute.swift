/// The paths that the gateway serves itself.
enum LocalRoute: String, Sendable, CaseIterable {
  case root = "/"
  case health = "/health"
  case apiHealth = "/api/health"
  case live = "/health/live"
  case ready = "/health/ready"
  case status = "/api/v1/status"
  case openAPI = "/openapi.json"
  case metrics = "/metrics"
  case docs = "/docs"
  case docsScript = "/docs/docs.js"
  case swaggerUIStyle = "/docs/swagger-ui.css"
  case swaggerUIScript = "/docs/swagger-ui-bundle.js"
  case reference = "/redoc"
  case referenceScript = "/docs/redoc.js"
  case redocScript = "/docs/redoc.standalone.js"

  /// Whether load balancers and monitors request it periodically.
  var isHealth: Bool {
    switch self {
    case .health, .apiHealth, .live, .ready, .status: true
    default: false
    }
  }
}
