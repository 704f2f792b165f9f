// What is said of requests, in the words of OpenTelemetry's conventions for HTTP.

/// What came of a request.
package enum Outcome: Sendable {
  case answered(Int)
  /// The answer began, but never came to its end.
  case cutOff(Int)
  /// There was none. Why, in one word of a few.
  case unanswered(String)

  var status: Int? {
    switch self {
    case .answered(let status), .cutOff(let status): status
    case .unanswered: nil
    }
  }

  /// - Parameter status: from which on an answer is an error.
  func error(from status: Int) -> String? {
    switch self {
    case .answered(let answered): answered >= status ? String(answered) : nil
    case .cutOff: "cut_off"
    case .unanswered(let why): why
    }
  }
}

/// Who was asked for what.
package struct Asked: Sendable {
  let method: String
  let template: String
  let service: String
  let host: String?
  let port: Int?

  /// - Parameter template: the path, with names in braces where it has ids.
  package init(_ method: String, _ template: String, of service: String, host: String?, port: Int?) {
    self.method = method
    self.template = template
    self.service = service
    self.host = host
    self.port = port
  }
}

extension ActiveSpan {
  /// - Parameter route: the template; nil when no route answered.
  package func answered(_ method: String, route: String?, _ outcome: Outcome) {
    let error = outcome.error(from: 500)
    end(
      Self.name(method, route), isError: (outcome.status ?? 0) >= 500,
      [Attribute("http.request.method", Self.known(method))] + (route.map { [Attribute("http.route", $0)] } ?? [])
        + Self.attributes(of: outcome, error) + tracer.answering)
  }

  /// - Parameter resends: how often it was sent again.
  package func asked(_ question: Asked, _ outcome: Outcome, resends: Int = 0) {
    let error = outcome.error(from: 400)
    end(
      Self.name(question.method, question.template), isError: error != nil,
      [
        Attribute("http.request.method", Self.known(question.method)), Attribute("url.template", question.template),
        Attribute("peer.service", question.service),
      ] + (question.host.map { [Attribute("server.address", $0)] } ?? [])
        + (question.port.map { [Attribute("server.port", $0)] } ?? [])
        + Self.attributes(of: outcome, error)
        + (resends > 0 ? [Attribute("http.request.resend_count", resends)] : []))
  }

  private static func attributes(of outcome: Outcome, _ error: String?) -> [Attribute] {
    (outcome.status.map { [Attribute("http.response.status_code", $0)] } ?? [])
      + (error.map { [Attribute("error.type", $0)] } ?? [])
  }

  private static func name(_ method: String, _ route: String?) -> String {
    let method = methods.contains(method) ? method : "HTTP"
    return route.map { "\(method) \($0)" } ?? method
  }

  /// Anything can stand where a method should.
  private static func known(_ method: String) -> String { methods.contains(method) ? method : "_OTHER" }

  private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
}
