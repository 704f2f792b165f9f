/// Bodies that contain a second request.
extension RawRequest {
  private static let hidden = "GET /internal/x HTTP/1.1\r\nHost: kith.test\r\n\r\n"
  private static let length = "Content-Length: \(hidden.utf8.count + 5)"
  private static let chunks = "Transfer-Encoding: chunked"
  private static let body = "0\r\n\r\n\(hidden)"

  static let bothFramings: [RawRequest] = [
    post("A length stands before a coding", length, chunks, body: body),
    post("A coding stands before a length", chunks, length, body: body),
    post("A length and a coding are far apart", length, "Accept: */*", "X-Other: 1", chunks, body: body),
    post("A length of zero comes with a coding", "Content-Length: 0", chunks, body: body),
    post("A coding comes with a length of zero", chunks, "Content-Length: 0", body: body),
    post("A length that is too short comes with a coding", "Content-Length: 3", chunks, body: body),
    post("A length comes with a coding in upper case", length, "TRANSFER-ENCODING: CHUNKED", body: body),
    post("A length comes with the coding identity", length, "Transfer-Encoding: identity", body: body),
    post("A length comes with an empty coding", length, "Transfer-Encoding:", body: body),
    post("A length comes with an unknown coding", length, "Transfer-Encoding: xchunked", body: body),
    post("A length comes with two codings", length, chunks, "Transfer-Encoding: identity", body: body),
    post("A length comes with a coding behind a tab", length, "Transfer-Encoding:\tchunked", body: body),
    post("A length comes with a coding and the wish to close", length, chunks, "Connection: close", body: body),
    post("Two lengths come with a coding", length, length, chunks, body: body),
    post("A length for a small route comes with a coding", to: "/small", length, chunks, body: body),
    .init(
      "A length comes with a coding by HTTP/1.0", "POST /count HTTP/1.0\r\n\(length)\r\n\(chunks)\r\n\r\n\(body)",
      status: 400),
    .init(
      "A length comes with a coding by PUT", "PUT /count HTTP/1.1\r\nHost: kith.test\r\n\(length)\r\n\(chunks)\r\n\r\n",
      status: 400),
    .init(
      "A length comes with a coding by DELETE",
      "DELETE /count HTTP/1.1\r\nHost: kith.test\r\n\(length)\r\n\(chunks)\r\n\r\n", status: 400),
  ]

  static let bodiesOfGet: [RawRequest] = [
    get("A GET has a body", "Content-Length: 5"),
    get("A GET has a body of one byte", "Content-Length: 1"),
    get("A GET has the largest body", "Content-Length: 9223372036854775807"),
    get("A GET is chunked", chunks),
    get("A GET has a length and a coding", "Content-Length: 5", chunks),
    get("A GET has a length that is none", "Content-Length: x"),
    get("A GET has two lengths of zero", "Content-Length: 0", "Content-Length: 0"),
    get("A GET waits with its body", "Content-Length: 5", "Expect: 100-continue"),
    .init("A GET hides another in its body", "\(head("GET /echo", [length]))0\r\n\r\n\(hidden)", status: 400),
    .init("A GET hides another behind its chunks", "\(head("GET /echo", [chunks]))\(body)", status: 400),
    .init("A HEAD has a body", "\(head("HEAD /echo", ["Content-Length: 5"]))hello", status: 400),
    .init("A HEAD is chunked", "\(head("HEAD /echo", [chunks]))0\r\n\r\n", status: 400),
    .init("A GET of HTTP/1.0 has a body", "GET /echo HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello", status: 400),
    // Without a token: a malformed request is refused before authentication.
    .init("A stranger's GET has a body", "\(head("GET /who", ["Content-Length: 5"]))hello", status: 400),
    .init("A stranger's GET is chunked", "\(head("GET /who", [chunks]))0\r\n\r\n", status: 400),
    .init("A stranger's GET has both framings", head("GET /who", ["Content-Length: 0", chunks]), status: 400),
    .init("A stranger's GET has an unknown coding", head("GET /who", ["Transfer-Encoding: gzip"]), status: 400),
    .init("A stranger's GET has two Hosts", head("GET /who", ["Host: kith.test"]), status: 400),
    .init("A stranger's GET has a user with an underscore", head("GET /who", ["X_User_ID: 1"]), status: 400),
    .init("A stranger's GET has a continued line", head("GET /who", ["X-Other: a", " b"]), status: 400),
    .init(
      "A stranger's GET has two bearers", head("GET /who", ["Authorization: Bearer x", "Authorization: Bearer y"]),
      status: 400),
    .init("A stranger's GET has no Host", "GET /who HTTP/1.1\r\n\r\n", status: 400),
  ]
}
