import NIOCore
import StrictHTTP

/// What every answer tells browsers, so that an answer is never taken for a page or a script.
struct SecurityLines: Sendable {
  private let lines: [(name: FieldName, line: [UInt8])]
  private let all: [UInt8]

  init(isTLS: Bool) {
    var lines: [(name: FieldName, text: String)] = [
      (.contentTypeOptions, "x-content-type-options: nosniff\r\n"),
      (.referrerPolicy, "referrer-policy: no-referrer\r\n"),
      (.contentSecurityPolicy, "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n"),
    ]
    // RFC 6797: only over TLS does it mean anything.
    if isTLS { lines.append((.transportSecurity, "strict-transport-security: max-age=31536000\r\n")) }
    self.lines = lines.map { ($0.name, Array($0.text.utf8)) }
    all = self.lines.flatMap(\.line)
  }

  /// - Parameter said: what the answer says by itself; its words stand, and none stands twice.
  func write(to out: inout ByteBuffer, besides said: (FieldName) -> Bool) {
    guard lines.contains(where: { said($0.name) }) else { return _ = out.writeBytes(all) }
    for (name, line) in lines where !said(name) { out.writeBytes(line) }
  }
}
