/// Values of fields, their number, and their total size.
extension RawRequest {
  private static let controls: [UInt8] = [UInt8](0x00...0x1F).filter { $0 != 0x09 } + [0x7F]
  private static let before = "GET /echo HTTP/1.1\r\nHost: kith.test\r\n"

  static let values: [RawRequest] = Array([controlled, controlledElsewhere].joined())

  private static let controlled: [RawRequest] = controls.map {
    embedding("A value contains the byte \($0.inHex)", "\(before)X-Other: a", $0, after: "b\r\n\r\n")
  }

  private static let controlledElsewhere: [RawRequest] = [
    get("A value begins with a NUL", "X-Other: \0a"),
    get("A value ends with a NUL", "X-Other: a\0"),
    get("A value is a NUL", "X-Other:\0"),
    get("A value begins with a delete", "X-Other: \u{7F}a"),
    get("A value ends with a delete", "X-Other: a\u{7F}"),
    get("A value begins with a vertical tab", "X-Other:\u{0B}a"),
    get("A value ends with a form feed", "X-Other: a\u{0C}"),
    get("A value ends with a carriage return", "X-Other: a\r"),
    get("A value begins with a line feed", "X-Other: \na"),
    get("A bearer contains a NUL", "Authorization: Bearer a\0b"),
    get("A cookie contains an escape", "Cookie: a=\u{1B}[2J"),
    get("A request id contains a line feed", "X-Request-Id: a\nb"),
    get("The address of a proxy contains a return", "X-Forwarded-For: 10.0.0.1\r10.0.0.2"),
    get("A control character stands at the end of a long value", "X-Other: \(filler(4001))\u{01}"),
  ]

  /// Fields with a meaning that occur twice, so that programs could use either.
  static let duplicateFields: [RawRequest] = [
    get("Two bearers are equal", "Authorization: Bearer x", "Authorization: Bearer x"),
    get("Two bearers differ", "Authorization: Bearer x", "Authorization: Bearer y"),
    get("Two bearers differ in the case of their names", "Authorization: Bearer x", "authorization: Bearer y"),
    get("A bearer comes with a password", "Authorization: Basic eDp5", "Authorization: Bearer x"),
    get("A second bearer is empty", "Authorization: Bearer x", "Authorization:"),
    post("Two types are equal", "Content-Type: text/plain", "Content-Type: text/plain", "Content-Length: 0"),
    post("Two types differ", "Content-Type: application/json", "Content-Type: text/plain", "Content-Length: 0"),
    post("Two types differ in the case of their names", "Content-Type: a/b", "content-type: a/b", "Content-Length: 0"),
  ]

  static let sizes: [RawRequest] = [
    .init("There are 65 fields", "\(before)\(fields(64))\r\n", status: 431),
    .init("There are 66 fields", "\(before)\(fields(65))\r\n", status: 431),
    .init("There are 1000 fields", "\(before)\(fields(1000))\r\n", status: 431),
    .init("There are 5000 fields and no end", "\(before)\(fields(5000))", status: 431),
    .init("There are 65 fields of insiders", "\(before)\(repeated("X-User-ID: 1", 64))\r\n", status: 431),
    .init("There are 65 empty fields", "\(before)\(repeated("X:", 64))\r\n", status: 431),
    .init("A head has 16385 bytes", headOf(16 * 1024 + 1), status: 431),
    .init("A head has 20000 bytes", headOf(20_000), status: 431),
    .init("A head has 100000 bytes", headOf(100_000), status: 431),
    .init("A value never ends", "\(before)X-Other: \(filler(40_000))", status: 431),
    .init("A bearer never ends", "\(before)Authorization: Bearer \(filler(40_000))", status: 431),
    .init("A blank never ends", "\(before)X-Other:\(String(repeating: " ", count: 40_000))", status: 431),
    .init("Eight fields have 17000 bytes", "\(before)\(repeated("X-Other: \(filler(2100))", 8))\r\n", status: 431),
    .init(
      "A long target and long fields have 17000 bytes",
      "GET /echo?n=\(filler(8000)) HTTP/1.1\r\nHost: kith.test\r\nX-Other: \(filler(9000))\r\n\r\n", status: 431),
  ]

  private static func fields(_ count: Int) -> String {
    (1...count).map { "X-\($0): a\r\n" }.joined()
  }

  private static func repeated(_ line: String, _ count: Int) -> String {
    String(repeating: "\(line)\r\n", count: count)
  }

  /// A head of `byteCount` bytes, most of them in one field that is not forwarded.
  static func headOf(_ byteCount: Int) -> String {
    let start = "\(before)Connection: close\r\nX-User-Email: "
    return "\(start)\(filler(byteCount - start.utf8.count - 4))\r\n\r\n"
  }
}
