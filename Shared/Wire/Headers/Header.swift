/// The names of internal headers and of those that are passed on between processes, in lower case for comparison.
package enum Header {
  package static let userID = "x-user-id"
  package static let userEmail = "x-user-email"
  package static let sessionID = "x-session-id"
  package static let serviceKey = "x-service-key"
  package static let serviceName = "x-service-name"
  package static let adminKey = "x-admin-key"
  package static let requestID = "x-request-id"
  package static let traceparent = "traceparent"
  package static let tracestate = "tracestate"
  /// How many milliseconds the caller still waits for the response.
  package static let timeout = "x-timeout-ms"
  package static let idempotencyKey = "idempotency-key"
  package static let idempotencyHit = "idempotency-hit"
  /// Set by auth on responses to requests that ended sessions: their ids, comma-separated. The gateway reads it and
  /// removes it.
  package static let endedSessions = "x-ended-sessions"
}
