/// Names of the headers that only insiders may set, and of those that travel through every process. Lower case, as
/// they are compared.
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
  /// How many milliseconds the caller still waits: what takes longer is done for nobody.
  package static let timeout = "x-timeout-ms"
  package static let idempotencyKey = "idempotency-key"
  package static let idempotencyHit = "idempotency-hit"
  /// Set by auth on the answer that ended sessions: their ids, comma-separated. The gateway acts on it at once and
  /// removes it.
  package static let endedSessions = "x-ended-sessions"

  /// What a client may never say: removed from every request, and from every answer.
  package static let insiders: Set<String> = [
    userID, userEmail, sessionID, serviceKey, serviceName, endedSessions, timeout,
  ]
}
