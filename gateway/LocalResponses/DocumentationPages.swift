import DocumentationBundles

/// The pages that show the OpenAPI document, with the files that they load: Swagger UI at `/docs`, Redoc at `/redoc`.
enum DocumentationPages {
  /// nil for a route that is not one of theirs.
  static func response(to route: LocalRoute) -> LocalResponse? {
    switch route {
    case .docs: page(PackageResources.docs_html, allowing: swaggerUISources)
    case .docsScript: file(javaScript, PackageResources.docs_js)
    case .swaggerUIStyle: file("text/css; charset=utf-8", documentation_swagger_ui_style())
    case .swaggerUIScript: file(javaScript, documentation_swagger_ui_script())
    case .reference: page(PackageResources.redoc_html, allowing: redocSources)
    case .referenceScript: file(javaScript, PackageResources.redoc_js)
    case .redocScript: file(javaScript, documentation_redoc_script())
    case .root, .health, .apiHealth, .live, .ready, .status, .openAPI, .metrics: nil
    }
  }

  private static let javaScript = "text/javascript; charset=utf-8"

  private static func page(_ html: [UInt8], allowing sources: String) -> LocalResponse {
    LocalResponse(200, "text/html; charset=utf-8", headers: [contentSecurityPolicy(sources)], body: html)
  }

  private static func file(_ type: String, _ bytes: [UInt8]) -> LocalResponse {
    LocalResponse(200, type, headers: [contentSecurityPolicy("")], body: bytes)
  }

  /// The bundles are sent as they are stored: every browser accepts gzip.
  private static func file(_ type: String, _ bundle: DocumentationBundle) -> LocalResponse {
    LocalResponse(
      200, type, headers: [("content-encoding", "gzip"), contentSecurityPolicy("")],
      body: Array(UnsafeBufferPointer(start: bundle.bytes, count: bundle.size)))
  }

  /// Nothing is loaded from another host, and no other page may frame these.
  ///
  /// - Parameter sources: the directives in which the pages differ.
  private static func contentSecurityPolicy(_ sources: String) -> (name: String, value: String) {
    (
      "content-security-policy",
      "default-src 'none'; script-src 'self'; \(sources)connect-src 'self'; img-src 'self' data:; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
  }

  private static let swaggerUISources = "style-src 'self'; "

  /// Redoc adds two style sheets when it starts, an empty one that it fills by script and one of fixed text (the hashes),
  /// and searches in a worker that it makes of a blob.
  private static let redocSources =
    "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' "
    + "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='; worker-src blob:; "
}
