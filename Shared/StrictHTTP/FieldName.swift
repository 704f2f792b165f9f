/// The header fields that the gateway acts on. All others are `other` and are forwarded unchanged.
package enum FieldName: UInt8, Sendable {
  case other
  case host, contentLength, transferEncoding, connection, contentType, authorization, expect, upgrade
  /// Hop-by-hop fields (RFC 9110 §7.6.1), which are never forwarded.
  case hopByHop
  /// Fields that only the gateway and services may set: removed from requests of clients and from responses.
  case internalOnly, userID, serviceKey, endedSessions
  /// Fields by which proxies name the client: replaced by the address that the gateway determines.
  case forwardedMetadata, forwardedFor
  case requestID, traceparent, tracestate
  case origin, requestedMethod, accessControl
  case rateLimit, contentSecurityPolicy, contentTypeOptions, referrerPolicy, transportSecurity
  case webSocketKey, webSocketVersion, webSocketAccept
  /// Selects the format of error bodies of `/auth/v1`.
  case goTrueVersion

  private static let names: [(StaticString, FieldName)] = [
    ("host", .host), ("content-length", .contentLength), ("transfer-encoding", .transferEncoding),
    ("connection", .connection), ("content-type", .contentType), ("authorization", .authorization),
    ("expect", .expect), ("upgrade", .upgrade),
    ("te", .hopByHop), ("trailer", .hopByHop), ("keep-alive", .hopByHop), ("proxy-connection", .hopByHop),
    ("proxy-authenticate", .hopByHop), ("proxy-authorization", .hopByHop), ("http2-settings", .hopByHop),
    ("x-user-id", .userID), ("x-service-key", .serviceKey), ("x-ended-sessions", .endedSessions),
    ("x-timeout-ms", .internalOnly), ("x-user-email", .internalOnly), ("x-session-id", .internalOnly),
    ("x-service-name", .internalOnly),
    ("forwarded", .forwardedMetadata), ("x-real-ip", .forwardedMetadata), ("x-forwarded-host", .forwardedMetadata),
    ("x-forwarded-port", .forwardedMetadata), ("x-forwarded-proto", .forwardedMetadata),
    ("x-forwarded-for", .forwardedFor),
    ("x-request-id", .requestID), ("traceparent", .traceparent), ("tracestate", .tracestate),
    ("origin", .origin), ("access-control-request-method", .requestedMethod),
    ("access-control-allow-origin", .accessControl), ("access-control-expose-headers", .accessControl),
    ("x-ratelimit-limit", .rateLimit), ("content-security-policy", .contentSecurityPolicy),
    ("x-supabase-api-version", .goTrueVersion),
    ("x-content-type-options", .contentTypeOptions), ("referrer-policy", .referrerPolicy),
    ("strict-transport-security", .transportSecurity),
    ("sec-websocket-key", .webSocketKey), ("sec-websocket-version", .webSocketVersion),
    ("sec-websocket-accept", .webSocketAccept),
  ]

  /// The names by length: the length alone distinguishes most fields.
  private static let byNameLength: [[(StaticString, FieldName)]] = {
    var lengths: [[(StaticString, FieldName)]] = Array(repeating: [], count: HTTPLimits.fieldNameBytesMax + 1)
    for entry in names { lengths[entry.0.utf8CodeUnitCount].append(entry) }
    return lengths
  }()

  /// - Precondition: `start..<end` are 1 to 64 letters, digits and hyphens.
  init(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) {
    for (name, value) in FieldName.byNameLength[end - start] where equalsIgnoringCase(bytes, start, end, name) {
      self = value
      return
    }
    self = .other
  }
}

/// Whether the bytes `start..<end` are `name` in any case. Letters differ from their lower case in one bit only, which
/// digits and hyphens have set anyway.
///
/// - Parameter name: in lower case.
func equalsIgnoringCase(_ bytes: Span<UInt8>, _ start: Int, _ end: Int, _ name: StaticString) -> Bool {
  guard end - start == name.utf8CodeUnitCount else { return false }
  return name.withUTF8Buffer { expected in
    for index in 0..<expected.count where bytes[start + index] | 0x20 != expected[index] { return false }
    return true
  }
}

/// Whether the bytes at `index` are `literal`; false when more bytes are needed to decide.
///
/// - Throws: ``HTTPParseError/malformed`` at the first byte that differs.
func matchesLiteral(_ bytes: Span<UInt8>, at index: Int, _ literal: StaticString) throws(HTTPParseError) -> Bool {
  for offset in 0..<literal.utf8CodeUnitCount {
    guard index + offset < bytes.count else { return false }
    guard bytes[index + offset] == literal.utf8Start[offset] else { throw .malformed }
  }
  return true
}
