import NIOCore
import StrictHTTP
import Web

/// The origins whose pages may call the gateway (`CORS_ORIGINS`), and the response headers that they may read. Access
/// tokens are sent in a header that the page sets itself, so credentials (cookies) are never allowed.
struct CORSPolicy: Sendable {
  private let origins: Set<[UInt8]>
  private let allowsAll: Bool

  /// nil when `CORS_ORIGINS` is empty: no other origin is allowed.
  ///
  /// - Throws: ``StartFailure`` for an entry that is not an origin.
  init?(_ settings: Settings) throws {
    let listed = settings.list("CORS_ORIGINS")
    guard !listed.isEmpty else { return nil }
    allowsAll = listed.contains("*")
    for origin in listed where origin != "*" {
      guard origin.hasPrefix("http://") || origin.hasPrefix("https://"), !origin.dropFirst(8).contains("/") else {
        throw StartFailure("CORS_ORIGINS must be * or origins such as https://app.example.com")
      }
    }
    origins = Set(listed.map { Array($0.utf8) })
  }

  /// The origin that the request names, if it is allowed.
  func allowedOrigin(of head: RequestHead, _ bytes: Span<UInt8>) -> [UInt8]? {
    guard let value = head.fields.first(.origin)?.value, value.count <= 512 else { return nil }
    var origin: [UInt8] = []
    for index in value.start..<value.end { origin.append(bytes[index]) }
    return allowsAll || origins.contains(origin) ? origin : nil
  }

  /// Fetch Standard §3.3. `Vary: Origin` is written for every request, because caches must not give the response for
  /// one origin to another.
  ///
  /// - Parameter origin: the origin of the request, if it is allowed.
  func writeHeaders(for origin: [UInt8]?, to out: inout ByteBuffer) {
    if !allowsAll { out.writeStaticString("vary: Origin\r\n") }
    guard let origin else { return }
    out.writeStaticString("access-control-allow-origin: ")
    if allowsAll { out.writeStaticString("*") } else { out.writeBytes(origin) }
    out.writeStaticString("\r\naccess-control-expose-headers: ")
    out.writeStaticString(
      """
      RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, \
      Link, Content-Range, X-Request-Id, Idempotency-Hit, Location, Server-Timing, Preference-Applied, Proxy-Status, \
      X-Supabase-Api-Version, x-sb-error-code
      """)
    out.writeStaticString("\r\n")
  }

  /// The response to a preflight request (Fetch Standard §4.8), which may be cached for ten minutes.
  static func preflight(_ methods: [String]) -> LocalResponse {
    LocalResponse(
      204,
      headers: [
        ("allow", methods.joined(separator: ", ")),
        ("access-control-allow-methods", methods.joined(separator: ", ")),
        (
          "access-control-allow-headers",
          """
          Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Range, Range-Unit, Prefer, X-Upsert, \
          Accept-Profile, Content-Profile, X-Retry-Count, X-Request-Id, X-Refresh-Token, traceparent, tracestate, apikey, X-Client-Info, X-Supabase-Api-Version
          """
        ),
        ("access-control-max-age", "600"),
      ])
  }
}

extension ClientHandler {
  /// The response to OPTIONS on an existing path: the methods of the path, and for a preflight request of an allowed
  /// origin the CORS headers.
  func optionsResponse(_ methods: RouteTable.Methods, _ bytes: Span<UInt8>) -> LocalResponse {
    guard exchange?.origin != nil, head.fields.contains(.requestedMethod) else {
      return LocalResponse(204, headers: [("allow", methods.names.joined(separator: ", "))])
    }
    return CORSPolicy.preflight(methods.names)
  }
}
