import StrictHTTP

extension Route {
  /// The responses that the gateway itself may give on this route, before or instead of the service: for each status
  /// the name of a response in `openapi.yaml`.
  var localResponses: [Int: String] {
    var responses = LocalRoute.responses
    responses.merge(Self.proxyFailures) { first, _ in first }
    if bearer == .optional || bearer == .required { responses[401] = "NotSignedIn" }
    // A GET or HEAD with a body is malformed (400), never too large.
    if method != .GET { responses[413] = "TooMuch" }
    if isWebSocket { responses[426] = "NotAWebSocket" }
    // A literal segment takes precedence over a parameter, also when it lacks the method.
    if path.contains("{") { responses[405] = "OtherMethods" }
    return responses
  }

  private static let proxyFailures = [502: "ServiceBrokeOff", 504: "NoAnswerInTime"]
}

extension LocalRoute {
  /// The failures that any request may get: malformed requests, timeouts, limits, unavailability.
  static let responses = [
    400: "NotARequest", 408: "TooSlow", 414: "TargetTooLong", 417: "OtherExpectation", 429: "TooOften",
    431: "HeadTooLarge", 501: "NoWebSockets", 503: "NotAvailable", 505: "OtherVersion",
  ]
}
