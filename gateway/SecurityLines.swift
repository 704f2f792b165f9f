import Web

/// What every answer tells browsers, so that an answer is never taken for a page or a script.
struct SecurityLines: Sendable {
  /// For answers that bring a policy of their own.
  let lines: [UInt8]
  let linesWithPolicy: [UInt8]

  init(isTLS: Bool) {
    var lines = "x-content-type-options: nosniff\r\nreferrer-policy: no-referrer\r\n"
    // RFC 6797: only over TLS does it mean anything.
    if isTLS { lines += "strict-transport-security: max-age=31536000\r\n" }
    self.lines = Array(lines.utf8)
    linesWithPolicy =
      self.lines + Array("content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n".utf8)
  }
}
