/// Names of fields: only letters, digits and hyphens, so that all programs read them alike.
extension RawRequest {
  private static let marks = Array("!\"#$%&'()*+,./;<=>?@[\\]^_`{|}~")
  private static let controls: [UInt8] = [
    0x00, 0x01, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1B, 0x1F, 0x20, 0x7F, 0x80, 0xA0, 0xAD, 0xFF,
  ]
  private static let before = "GET /echo HTTP/1.1\r\nHost: kith.test\r\n"

  static let names: [RawRequest] = Array([marked, controlled, misread].joined())

  private static let marked: [RawRequest] = marks.map { get("A name contains \($0)", "X-User\($0)ID: 1") }

  private static let controlled: [RawRequest] = controls.map {
    embedding("A name contains the byte \($0.inHex)", "\(before)X-User", $0, after: "ID: 1\r\n\r\n")
  }

  private static let misread: [RawRequest] = [
    get("A name is empty", ": 1"),
    get("A name and its value are empty", ":"),
    get("A name has no colon", "X-User-ID"),
    get("A name has an equals sign for a colon", "X-User-ID=1"),
    get("A line has words and no colon", "this is no field"),
    get("A name has a fullwidth colon", "X-User-ID\u{FF1A} 1"),
    get("A name has 65 bytes", "\(filler(65)): 1"),
    get("A name has 5000 bytes", "\(filler(5000)): 1"),
    RawRequest("A name never ends", "\(before)\(filler(20_000))", status: 400),
    get("A name begins with a byte order mark", "\u{FEFF}X-User-ID: 1"),
    get("A name has a zero-width space", "X-User\u{200B}-ID: 1"),
    get("A name has a hyphen that is not ASCII", "X\u{2010}User-ID: 1"),
    get("A name has the sign of the Kelvin", "X-Service-\u{212A}ey: 1"),
    get("A name has a long s", "X-U\u{017F}er-ID: 1"),
    get("A name has a fullwidth letter", "\u{FF38}-User-ID: 1"),
    get("A name has an accent", "X-Usér-ID: 1"),
    get("A name is in quotes", "\"X-User-ID\": 1"),
    get("A name is percent-encoded", "X%2DUser-ID: 1"),
    get("A name is of another protocol", ":authority: evil.example"),
    .init("A first name stands behind a space", "GET /echo HTTP/1.1\r\n Host: kith.test\r\n\r\n", status: 400),
    .init("A first name stands behind a tab", "GET /echo HTTP/1.1\r\n\tHost: kith.test\r\n\r\n", status: 400),
  ]

  private static let internalFields = [
    "X-User-ID", "X-Service-Key", "X-Session-ID", "X-User-Email", "X-Service-Name", "X-Ended-Sessions",
  ]
  private static let framing = ["Host", "Content-Length", "Transfer-Encoding", "Authorization", "Connection"]

  /// Names that some programs take for another name.
  static let disguisedNames: [RawRequest] = Array([misspelt, blanks, disguises].joined())

  private static let misspelt: [RawRequest] = internalFields.flatMap { (name: String) -> [RawRequest] in
    [
      get("\(name) is spelt with underscores", "\(spelt(name, with: "_")): 1"),
      get("\(name) is spelt in lower case with underscores", "\(spelt(name, with: "_").lowercased()): 1"),
      get("\(name) is spelt with one underscore", "X_\(name.dropFirst(2)): 1"),
      get("\(name) is spelt with dots", "\(spelt(name, with: ".")): 1"),
      get("\(name) is spelt with spaces", "\(spelt(name, with: " ")): 1"),
    ]
  }

  private static let blanks: [RawRequest] = (internalFields + framing).flatMap { (name: String) -> [RawRequest] in
    [
      get("\(name) has a space before its colon", "\(name) : 1"),
      get("\(name) has a tab before its colon", "\(name)\t: 1"),
      get("\(name) has a space before it", " \(name): 1"),
      get("\(name) has a tab before it", "\t\(name): 1"),
    ]
  }

  private static let disguises: [RawRequest] = [
    post("Content_Length frames a body", "Content_Length: 5", body: "hello"),
    post("Content-Length with a vertical tab frames a body", "Content-Length\u{0B}: 5", body: "hello"),
    post("Transfer_Encoding frames a body", "Transfer_Encoding: chunked", body: "0\r\n\r\n"),
    post("Transfer Encoding frames a body", "Transfer Encoding: chunked", body: "0\r\n\r\n"),
    post("Transfer-Encoding with a NUL frames a body", "Transfer-Encoding\0: chunked", body: "0\r\n\r\n"),
    post("Transfer-Encoding with a line feed frames a body", "Transfer-Encoding\n : chunked", body: "0\r\n\r\n"),
    post("Transfer-Encoding behind a line feed frames a body", "X: x\nTransfer-Encoding: chunked", body: "0\r\n\r\n"),
    post("Transfer-Encoding behind a return frames a body", "X: x\rTransfer-Encoding: chunked", body: "0\r\n\r\n"),
    get("X-User-ID hides behind a line feed", "X-Other: a\nX-User-ID: 1"),
    get("X-User-ID hides behind a carriage return", "X-Other: a\rX-User-ID: 1"),
    get("X-User-ID hides behind a return and a NUL", "X-Other: a\r\0\nX-User-ID: 1"),
    get("X-Forwarded-For is spelt with underscores", "X_Forwarded_For: 10.0.0.1"),
  ]

  /// Folded lines (obs-fold, RFC 9112 §5.2).
  static let foldedLines: [RawRequest] = [
    get("A value goes on behind a space", "X-Other: a", " b"),
    get("A value goes on behind a tab", "X-Other: a", "\tb"),
    get("A value goes on twice", "X-Other: a", " b", " c"),
    get("A value goes on in a blank line", "X-Other: a", " "),
    get("A value begins in the next line", "X-Other:", " a"),
    get("A continued value looks like X-User-ID", "X-Other: a", " X-User-ID: 1"),
    get("A bearer goes on in the next line", "Authorization: Bearer", " x"),
    post("A coding begins in the next line", "Transfer-Encoding:", " chunked", body: "0\r\n\r\n"),
    post("A coding goes on in the next line", "Transfer-Encoding: chun", "\tked", body: "0\r\n\r\n"),
    post("A coding is followed by a blank line", "Transfer-Encoding: chunked", " ", body: "0\r\n\r\n"),
    post("A length goes on in the next line", "Content-Length: 1", " 0", body: "helloworld"),
    .init("A blank line stands before the fields", "GET /echo HTTP/1.1\r\n \r\nHost: kith.test\r\n\r\n", status: 400),
    .init("A blank line ends the head", "GET /echo HTTP/1.1\r\nHost: kith.test\r\n \r\n\r\n", status: 400),
    .init("A line with a tab ends the head", "GET /echo HTTP/1.1\r\nHost: kith.test\r\n\t\r\n\r\n", status: 400),
  ]

  private static func spelt(_ name: String, with mark: String) -> String {
    name.split(separator: "-").joined(separator: mark)
  }
}
