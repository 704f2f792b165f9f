/// Which HTTP status a failure has.
extension APIDialect {
  /// The status of RFC 9110 that clients of this dialect expect.
  package func status(of kind: Failure.Kind) -> Int {
    switch kind {
    case .invalid: self == .api ? 422 : 400
    case .malformed: 400
    case .unauthorized: 401
    case .paymentRequired: 402
    case .forbidden: 403
    case .notFound: 404
    case .methodNotAllowed: 405
    case .timeout: 408
    case .conflict: 409
    case .gone: 410
    case .preconditionFailed: 412
    case .tooLarge: 413
    case .targetTooLong: 414
    case .unsupportedType: 415
    case .unsatisfiable: 416
    case .expectation: 417
    case .unprocessable: 422
    case .upgradeRequired: 426
    case .limited: 429
    case .headTooLarge: 431
    case .broken: 500
    case .notImplemented: 501
    case .badGateway: 502
    case .unavailable: 503
    case .gatewayTimeout: 504
    case .versionUnsupported: 505
    }
  }

  /// The same for one failure: GoTrue has a status of its own for a password that is too weak.
  package func status(of failure: Failure) -> Int {
    self == .goTrue && !failure.reasons.isEmpty ? 422 : status(of: failure.kind)
  }
}
