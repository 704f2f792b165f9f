/// Bytes that are invalid in a target, and targets that are too long.
extension RawRequest {
  private static let forbidden = Array("\"<>\\^`{|}#")
  private static let controls: [UInt8] = [
    0x00, 0x01, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x1A, 0x1B, 0x1C, 0x1F, 0x7F,
  ]
  private static let rest = " HTTP/1.1\r\nHost: kith.test\r\n\r\n"

  static let rawTargets: [RawRequest] = Array([inPaths, inQueries, bytesInPaths, bytesInQueries, notASCII].joined())

  private static let inPaths: [RawRequest] = forbidden.map { target("A path contains \($0)", "/echo\($0)x") }

  private static let inQueries: [RawRequest] = forbidden.map { target("A query contains \($0)", "/echo?n=\($0)x") }

  private static let bytesInPaths: [RawRequest] = controls.map {
    embedding("A path contains the byte \($0.inHex)", "GET /echo", $0, after: "x\(rest)")
  }

  private static let bytesInQueries: [RawRequest] = controls.map {
    embedding("A query contains the byte \($0.inHex)", "GET /echo?n=", $0, after: "x\(rest)")
  }

  private static let notASCII: [RawRequest] = [
    target("A path has letters that are not ASCII", "/échö"),
    target("A query has letters that are not ASCII", "/echo?n=ö"),
    target("A path has a fullwidth slash", "/echo\u{FF0F}..\u{FF0F}internal"),
    target("A path has fullwidth dots", "/\u{FF0E}\u{FF0E}/internal/x"),
    target("A path has a division slash", "/echo\u{2215}x"),
    target("A path has a letter whose lower byte is a line feed", "/echo\u{010A}x"),
    target("A path has a letter whose lower byte is a carriage return", "/echo\u{010D}x"),
    target("A path has a letter whose lower byte is a space", "/echo\u{0120}HTTP/1.1"),
    embedding("A path has a slash in too many bytes", "GET /echo", 0xC0, 0xAF, after: "x\(rest)"),
    embedding("A path has dots in too many bytes", "GET /", 0xC0, 0xAE, 0xC0, 0xAE, after: "/internal/x\(rest)"),
    embedding("A path has a NUL in two bytes", "GET /echo", 0xC0, 0x80, after: rest),
    embedding("A path contains the byte 0x80", "GET /echo", 0x80, after: rest),
    embedding("A path contains the byte 0xA0", "GET /echo", 0xA0, after: rest),
    embedding("A path contains the byte 0xFF", "GET /echo", 0xFF, after: rest),
    embedding("A query contains the byte 0xFF", "GET /echo?n=", 0xFF, after: rest),
  ]

  static let longTargets: [RawRequest] = [
    target("A path has 8193 bytes", "/\(filler(8192))", status: 414),
    target("A query brings the target to 8193 bytes", "/echo?n=\(filler(8185))", status: 414),
    target("Many escapes bring the target to 8194 bytes", "/\(String(repeating: "%41", count: 2731))", status: 414),
    target("Many segments bring the target to 12000 bytes", String(repeating: "/abc", count: 3000), status: 414),
    target("A target alone is longer than a head may be", "/\(filler(20_000))", status: 414),
    RawRequest("A target never ends", "GET /\(filler(40_000))", status: 414),
  ]

  static func filler(_ count: Int) -> String { String(repeating: "a", count: count) }
}
