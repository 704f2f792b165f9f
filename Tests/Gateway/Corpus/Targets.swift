/// Targets: only one spelling of each path is valid.
extension RawRequest {
  static let forms: [RawRequest] = [
    target("The target is absolute", "http://kith.test/echo"),
    target("The target is absolute and of another host", "http://evil.example/echo"),
    target("The target is absolute and secure", "https://kith.test/echo"),
    target("The target is absolute in upper case", "HTTP://KITH.TEST/echo"),
    target("The target is absolute with a user", "http://alice@kith.test/echo"),
    target("The target is of a WebSocket", "ws://kith.test/echo"),
    target("The target is a file", "file:///etc/passwd"),
    target("The target is a script", "javascript:alert(1)"),
    target("The target is an authority", "kith.test:80"),
    target("The target is a host and a path", "kith.test/echo"),
    target("The target begins with a user", "@evil.example/echo"),
    target("The target begins with a port", ":80/echo"),
    target("The target is an asterisk", "*"),
    target("The target is an asterisk behind a slash that is none", "*/echo"),
    target("The target is relative", "echo"),
    target("The target begins with a dot", "./echo"),
    target("The target begins with two dots", "../echo"),
    target("The target is a query alone", "?n=1"),
    target("The target is a fragment alone", "#echo"),
    target("The target begins with an encoded slash", "%2Fecho"),
    target("The target begins with a backslash", "\\echo"),
    target("The target begins with a semicolon", ";/echo"),
    requestLine("A tunnel is asked for", "CONNECT kith.test:443 HTTP/1.1"),
    requestLine("Options of the whole server are asked for", "OPTIONS * HTTP/1.1"),
    requestLine("A POST has an absolute target", "POST http://kith.test/count HTTP/1.1"),
    target("The path is two slashes", "//"),
    target("The path begins with two slashes", "//echo"),
    target("The path begins with three slashes", "///echo"),
    target("The path begins like another host", "//evil.example/echo"),
    target("The path has two slashes inside", "/echo//x"),
    target("The path ends with two slashes", "/echo//"),
    target("The path has two slashes before a query", "/echo//?n=1"),
    target("An internal path hides behind two slashes", "//internal/x"),
  ]

  static let dotSegments: [RawRequest] = withDots.map { target("The path \($0) has a dot segment", $0) }

  private static let withDots = [
    "/.", "/..", "/./echo", "/../echo", "/echo/.", "/echo/..", "/echo/./", "/echo/../", "/echo/../internal/x",
    "/echo/./../internal/x", "/../../../../etc/passwd", "/echo/..?n=1", "/echo/.?n=1", "/%2e/echo", "/%2E/echo",
    "/%2e%2e/internal/x", "/%2E%2E/internal/x", "/%2e%2E/internal/x", "/.%2e/internal/x", "/%2e./internal/x",
    "/.%2E/internal/x", "/%2E./internal/x", "/echo/%2e", "/echo/%2e%2e", "/echo/%2e%2e?n=1", "/..;/internal/x",
    "/..;a=b/internal/x", "/.;/internal/x", "/echo/..;", "/echo/.;x", "/%2e%2e;/internal/x", "/.%2e;a/internal/x",
    "/..;;/internal/x",
  ]

  static let escapes: [RawRequest] = Array([slashes, twice, controls, cutShort, percents, nulsInQueries].joined())

  private static let slashes: [RawRequest] = [
    "/%2fecho", "/echo%2Fx", "/echo%2fx", "/echo/%2f", "/echo%2f%2fx", "/..%2finternal/x", "/%2e%2e%2Finternal/x",
    "/echo%5Cx", "/echo%5cx", "/..%5cinternal/x", "/%5c%5cevil.example/echo",
  ].map { target("The path \($0) hides a slash", $0) }

  private static let twice: [RawRequest] = [
    "/echo%252fx", "/echo%252Fx", "/%252e%252e/internal/x", "/%252E%252E/internal/x", "/%252e%252e%252finternal",
    "/.%252e/internal/x", "/echo%255cx", "/echo%255Cx", "/echo%2500",
  ].map { target("The path \($0) is encoded twice", $0) }

  private static let controls: [RawRequest] = [
    "00", "01", "07", "08", "09", "0a", "0A", "0b", "0c", "0d", "0D", "0d%0a", "1a", "1B", "1f", "1F", "7f", "7F",
  ].map { target("The path hides the control character %\($0)", "/echo%\($0)") }

  private static let cutShort: [RawRequest] = [
    "/%00/echo", "/echo%00.json", "/echo/%00/x", "/ec%0d%0aX-User-ID:%201",
  ].map { target("The path \($0) is cut where a control character is", $0) }

  private static let percents: [RawRequest] = [
    "/echo%", "/echo%2", "/echo%zz", "/echo%2g", "/echo%g2", "/echo%%", "/echo%%32%66", "/echo%u002f", "/echo%-1",
    "/echo%+1", "/echo%0x", "/%", "/%/echo", "/echo%?n=1", "/echo%2?n=1", "/echo?n=%", "/echo?n=%2", "/echo?n=%zz",
    "/echo?n=100%", "/echo?n=%%41", "/echo?n=%u0041", "/echo?%", "/echo?n=%2&m=1",
  ].map { target("\($0) is not percent-encoded", $0) }

  private static let nulsInQueries: [RawRequest] = [
    "/echo?n=%00", "/echo?n=a%00b", "/echo?%00=1",
  ].map { target("The query of \($0) hides a NUL", $0) }
}
