// The span names and attributes of OpenTelemetry's semantic conventions for HTTP.

/// How a request ended.
package enum RequestOutcome: Sendable {
  /// A complete response with a status.
  case response(Int)
  /// A response with a status whose body was cut off.
  case incompleteResponse(Int)
  /// No response, with one of a few reasons, which becomes `error.type`.
  case noResponse(String)

  var status: Int? {
    switch self {
    case .response(let status), .incompleteResponse(let status): status
    case .noResponse: nil
    }
  }

  /// The value of `error.type`; nil without an error.
  ///
  /// - Parameter errorStatus: the lowest status that is an error.
  func error(from errorStatus: Int) -> String? {
    switch self {
    case .response(let status): status >= errorStatus ? String(status) : nil
    case .incompleteResponse: "cut_off"
    case .noResponse(let reason): reason
    }
  }
}

/// A request to another service, as its client span describes it.
package struct OutgoingRequest: Sendable {
  let method: String
  let template: String
  let service: String
  let host: String?
  let port: Int?

  /// - Parameters:
  ///   - template: the path, with braces in place of ids.
  ///   - service: the name of the service that is called.
  package init(_ method: String, _ template: String, of service: String, host: String?, port: Int?) {
    self.method = method
    self.template = template
    self.service = service
    self.host = host
    self.port = port
  }
}

extension ActiveSpan {
  /// Ends the span of a request to this process.
  ///
  /// - Parameter route: the path template; nil when no route matched.
  package func endServerSpan(_ method: String, route: String?, _ outcome: RequestOutcome) {
    let error = outcome.error(from: 500)
    end(
      Self.name(method, route), isError: (outcome.status ?? 0) >= 500,
      [Attribute("http.request.method", Self.normalizedMethod(method))]
        + (route.map { [Attribute("http.route", $0)] } ?? [])
        + Self.attributes(of: outcome, error) + tracer.serverAttributes)
  }

  /// Ends the span of a request to another service.
  ///
  /// - Parameter resends: how often the request was sent again.
  package func endClientSpan(_ request: OutgoingRequest, _ outcome: RequestOutcome, resends: Int = 0) {
    let error = outcome.error(from: 400)
    end(
      Self.name(request.method, request.template), isError: error != nil,
      [
        Attribute("http.request.method", Self.normalizedMethod(request.method)),
        Attribute("url.template", request.template),
        Attribute("peer.service", request.service),
      ] + (request.host.map { [Attribute("server.address", $0)] } ?? [])
        + (request.port.map { [Attribute("server.port", $0)] } ?? [])
        + Self.attributes(of: outcome, error)
        + (resends > 0 ? [Attribute("http.request.resend_count", resends)] : []))
  }

  private static func attributes(of outcome: RequestOutcome, _ error: String?) -> [Attribute] {
    (outcome.status.map { [Attribute("http.response.status_code", $0)] } ?? [])
      + (error.map { [Attribute("error.type", $0)] } ?? [])
  }

  private static func name(_ method: String, _ route: String?) -> String {
    let method = methods.contains(method) ? method : "HTTP"
    return route.map { "\(method) \($0)" } ?? method
  }

  /// `_OTHER` for methods that are not in the conventions, as clients can send any.
  private static func normalizedMethod(_ method: String) -> String { methods.contains(method) ? method : "_OTHER" }

  private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
}
