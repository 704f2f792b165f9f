/// The header fields that the gateway acts on; all others are `other` and travel as they came.
package enum FieldName: UInt8, Sendable {
  case other
  case host, contentLength, transferEncoding, connection, contentType, authorization, expect, upgrade
  /// Hop by hop (RFC 9110 §7.6.1): never passed on.
  case hopByHop
  /// What only insiders may say: removed from requests and from answers.
  case insider, userID, serviceKey, endedSessions
  /// Where a request came from, as proxies say it: replaced by what the gateway knows.
  case forwarding, forwardedFor
  case requestID, traceparent, tracestate
  case origin, requestedMethod, accessControl
  case rateLimit, contentSecurityPolicy, contentTypeOptions, referrerPolicy, transportSecurity
  /// Which body an error of `/auth/v1` has.
  case goTrueVersion

  private static let names: [(StaticString, FieldName)] = [
    ("host", .host), ("content-length", .contentLength), ("transfer-encoding", .transferEncoding),
    ("connection", .connection), ("content-type", .contentType), ("authorization", .authorization),
    ("expect", .expect), ("upgrade", .upgrade),
    ("te", .hopByHop), ("trailer", .hopByHop), ("keep-alive", .hopByHop), ("proxy-connection", .hopByHop),
    ("proxy-authenticate", .hopByHop), ("proxy-authorization", .hopByHop), ("http2-settings", .hopByHop),
    ("x-user-id", .userID), ("x-service-key", .serviceKey), ("x-ended-sessions", .endedSessions),
    ("x-timeout-ms", .insider), ("x-user-email", .insider), ("x-session-id", .insider), ("x-service-name", .insider),
    ("forwarded", .forwarding), ("x-real-ip", .forwarding), ("x-forwarded-host", .forwarding),
    ("x-forwarded-port", .forwarding), ("x-forwarded-proto", .forwarding), ("x-forwarded-for", .forwardedFor),
    ("x-request-id", .requestID), ("traceparent", .traceparent), ("tracestate", .tracestate),
    ("origin", .origin), ("access-control-request-method", .requestedMethod),
    ("access-control-allow-origin", .accessControl), ("access-control-expose-headers", .accessControl),
    ("x-ratelimit-limit", .rateLimit), ("content-security-policy", .contentSecurityPolicy),
    ("x-supabase-api-version", .goTrueVersion),
    ("x-content-type-options", .contentTypeOptions), ("referrer-policy", .referrerPolicy),
    ("strict-transport-security", .transportSecurity),
  ]

  /// The names of each length: most fields are told apart by their length alone.
  private static let byLength: [[(StaticString, FieldName)]] = {
    var lengths: [[(StaticString, FieldName)]] = Array(repeating: [], count: Limits.fieldNameBytesMax + 1)
    for entry in names { lengths[entry.0.utf8CodeUnitCount].append(entry) }
    return lengths
  }()

  /// - Parameter end: `start..<end` has been found to be 1 to 64 letters, digits and hyphens.
  init(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) {
    for (name, value) in FieldName.byLength[end - start] where same(bytes, start, end, name) {
      self = value
      return
    }
    self = .other
  }
}

/// Whether `start..<end` is `name`, which is in lower case. The letters of a field name differ from their lower case in
/// one bit, which digits and hyphens have set anyway.
func same(_ bytes: Span<UInt8>, _ start: Int, _ end: Int, _ name: StaticString) -> Bool {
  guard end - start == name.utf8CodeUnitCount else { return false }
  return name.withUTF8Buffer { wanted in
    for index in 0..<wanted.count where bytes[start + index] | 0x20 != wanted[index] { return false }
    return true
  }
}

/// Whether `wanted` stands at `index`; false while too few bytes are there to tell.
///
/// - Throws: ``Refusal/malformed`` at the first byte that differs.
func begins(_ bytes: Span<UInt8>, at index: Int, with wanted: StaticString) throws(Refusal) -> Bool {
  for offset in 0..<wanted.utf8CodeUnitCount {
    guard index + offset < bytes.count else { return false }
    guard bytes[index + offset] == wanted.utf8Start[offset] else { throw .malformed }
  }
  return true
}
