import NIOCore
import StrictHTTP

/// The security headers of every response, so that no browser renders a response as a page or runs it as a script.
struct SecurityHeaders: Sendable {
  private let lines: [(name: FieldName, line: [UInt8])]
  private let all: [UInt8]

  init(isTLS: Bool) {
    var lines: [(name: FieldName, text: String)] = [
      (.contentTypeOptions, "x-content-type-options: nosniff\r\n"),
      (.referrerPolicy, "referrer-policy: no-referrer\r\n"),
      (.contentSecurityPolicy, "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n"),
    ]
    // RFC 6797 §8.1: browsers ignore it without TLS.
    if isTLS { lines.append((.transportSecurity, "strict-transport-security: max-age=31536000\r\n")) }
    self.lines = lines.map { ($0.name, Array($0.text.utf8)) }
    all = self.lines.flatMap(\.line)
  }

  /// - Parameter isPresent: whether the response has this header already. Such a header is not written again.
  func write(to out: inout ByteBuffer, unless isPresent: (FieldName) -> Bool) {
    guard lines.contains(where: { isPresent($0.name) }) else { return _ = out.writeBytes(all) }
    for (name, line) in lines where !isPresent(name) { out.writeBytes(line) }
  }
}
