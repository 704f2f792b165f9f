import NIOCore
import StrictHTTP
import Web

/// Which pages of other origins may call (`CORS_ORIGINS`), and what they may read. Bearers travel in a header that a
/// page sets by itself, so credentials (cookies) are never allowed.
struct CrossOrigin: Sendable {
  private let origins: Set<[UInt8]>
  private let isOpen: Bool

  /// nil: no page of another origin may. - Throws: ``StartFailure`` for what is no origin.
  init?(_ settings: Settings) throws {
    let listed = settings.list("CORS_ORIGINS")
    guard !listed.isEmpty else { return nil }
    isOpen = listed.contains("*")
    for origin in listed where origin != "*" {
      guard origin.hasPrefix("http://") || origin.hasPrefix("https://"), !origin.dropFirst(8).contains("/") else {
        throw StartFailure("CORS_ORIGINS must be * or origins such as https://app.example.com")
      }
    }
    origins = Set(listed.map { Array($0.utf8) })
  }

  /// The origin that asks, when it may.
  func origin(of head: RequestHead, _ bytes: Span<UInt8>) -> [UInt8]? {
    guard let value = head.fields.first(.origin)?.value, value.count <= 512 else { return nil }
    var origin: [UInt8] = []
    for index in value.start..<value.end { origin.append(bytes[index]) }
    return isOpen || origins.contains(origin) ? origin : nil
  }

  /// Fetch Standard §3.3.
  ///
  /// - Parameter origin: the one that asks, when it may. Also what others are told depends on who asks, for caches.
  func writeLines(for origin: [UInt8]?, to out: inout ByteBuffer) {
    if !isOpen { out.writeStaticString("vary: Origin\r\n") }
    guard let origin else { return }
    out.writeStaticString("access-control-allow-origin: ")
    if isOpen { out.writeStaticString("*") } else { out.writeBytes(origin) }
    out.writeStaticString("\r\naccess-control-expose-headers: ")
    out.writeStaticString(
      """
      RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, \
      Link, Content-Range, X-Request-Id, Idempotency-Hit, Location, Server-Timing, \
      X-Supabase-Api-Version, x-sb-error-code
      """)
    out.writeStaticString("\r\n")
  }

  /// What a preflight asks (Fetch Standard §4.8); good for ten minutes.
  static func preflight(_ methods: [String]) -> LocalAnswer {
    LocalAnswer(
      204,
      headers: [
        ("allow", methods.joined(separator: ", ")),
        ("access-control-allow-methods", methods.joined(separator: ", ")),
        (
          "access-control-allow-headers",
          """
          Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Range, Prefer, X-Request-Id, \
          X-Refresh-Token, traceparent, tracestate, apikey, X-Client-Info, X-Supabase-Api-Version
          """
        ),
        ("access-control-max-age", "600"),
      ])
  }
}

extension ClientHandler {
  /// OPTIONS on a path that is there: what it takes, and to a page that may ask, that it may.
  func options(_ methods: RouteTable.Methods, _ bytes: Span<UInt8>) -> LocalAnswer {
    guard exchange?.origin != nil, head.fields.contains(.requestedMethod) else {
      return LocalAnswer(204, headers: [("allow", methods.names.joined(separator: ", "))])
    }
    return CrossOrigin.preflight(methods.names)
  }
}
