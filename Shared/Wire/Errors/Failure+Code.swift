/// Which codes a failure has.
extension APIDialect {
  /// The top-level `code`: the failure's own, or the code of GoTrue or PostgREST for the same error.
  package func code(of failure: Failure) -> String {
    switch self {
    case .api, .plain: failure.code
    case .storage: failure.kind == .notFound ? "not_found" : failure.code
    case .goTrue: failure.reasons.isEmpty ? Self.goTrueCodes[failure.code] ?? failure.code : "weak_password"
    case .postgREST, .postgRESTFunction: postgRESTCode(of: failure)
    }
  }

  private func postgRESTCode(of failure: Failure) -> String {
    switch failure.kind {
    // `PT404` is how PostgREST's functions raise a status.
    case .notFound where failure.code != Failure.notFound.code: "PT404"
    case .notFound where self == .postgRESTFunction: "PGRST202"
    case .unauthorized where failure.code == Self.expired: "PGRST303"
    default: Self.postgRESTCodes[failure.kind] ?? failure.code
    }
  }

  /// The text for people, or that of PostgREST by which clients recognise the failure.
  func message(of failure: Failure) -> String {
    isPostgREST && failure.code == Self.expired ? "JWT expired" : failure.message
  }

  private static let expired = "token_expired"

  /// `error.code`: the same as `code`, except where older clients expect one of a fixed list in upper case.
  package func nestedCode(of failure: Failure) -> String {
    switch self {
    case .api, .plain: failure.code
    case .storage: code(of: failure)
    case .goTrue, .postgREST, .postgRESTFunction: Self.upperCaseCode(failure)
    }
  }

  private static let goTrueCodes = [
    "unauthorized": "no_authorization", "validation_error": "validation_failed", "malformed_json": "bad_json",
    "rate_limited": "over_request_rate_limit", "internal_error": "unexpected_failure",
    "invalid_token": "bad_jwt", "token_expired": "bad_jwt", "session_ended": "session_not_found",
    "forbidden": "no_authorization", "invalid_refresh_token": "refresh_token_not_found",
    "refresh_token_reused": "refresh_token_already_used", "identity_taken": "identity_already_exists",
    "gateway_timeout": "request_timeout",
  ]

  private static let postgRESTCodes: [Failure.Kind: String] = [
    .malformed: "PGRST102", .invalid: "PGRST100", .notFound: "PGRST205", .unauthorized: "PGRST301",
    .methodNotAllowed: "PGRST117", .forbidden: "42501", .conflict: "23505", .broken: "XX000",
    .unavailable: "PGRST001",
  ]

  private static func upperCaseCode(_ failure: Failure) -> String {
    switch failure.code {
    case "invalid_credentials": return "INVALID_CREDENTIALS"
    case "user_not_found": return "USER_NOT_FOUND"
    case "group_not_found": return "GROUP_NOT_FOUND"
    case "hunt_not_found": return "HUNT_NOT_FOUND"
    default: break
    }
    switch failure.kind {
    case .unauthorized: return "AUTH_REQUIRED"
    case .forbidden, .paymentRequired: return "PERMISSION_DENIED"
    case .limited: return "RATE_LIMIT_EXCEEDED"
    case .unavailable, .badGateway, .gatewayTimeout: return "NOT_CONNECTED"
    case .broken: return "SERVER_ERROR"
    default: return "VALIDATION_ERROR"
    }
  }
}
