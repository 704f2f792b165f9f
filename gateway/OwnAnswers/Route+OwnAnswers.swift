import StrictHTTP

extension Route {
  /// What the gateway may answer here by itself, before or instead of the service: each status with its name among the
  /// responses of `openapi.yaml`.
  var ownAnswers: [Int: String] {
    var answers = OwnRoute.answers
    answers.merge(Self.ofForwarding) { own, _ in own }
    if bearer == .optional || bearer == .required { answers[401] = "NotSignedIn" }
    // GET and HEAD with a body are no requests at all.
    if method != .GET { answers[413] = "TooMuch" }
    // A literal segment wins over a variable one, also when it has other methods.
    if path.contains("{") { answers[405] = "OtherMethods" }
    return answers
  }

  private static let ofForwarding = [502: "ServiceBrokeOff", 504: "NoAnswerInTime"]
}

extension OwnRoute {
  /// The same for what the gateway answers by itself: refusals of what is no request, or one too many.
  static let answers = [
    400: "NotARequest", 408: "TooSlow", 414: "TargetTooLong", 417: "OtherExpectation", 429: "TooOften",
    431: "HeadTooLarge", 501: "NoWebSockets", 503: "NotAvailable", 505: "OtherVersion",
  ]
}
