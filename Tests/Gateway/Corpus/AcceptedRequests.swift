/// Valid requests.
extension RawRequest {
  private static let close = "Connection: close"

  static let plain: [RawRequest] = [
    get("A request is plain", close, status: 200),
    .init("A client speaks HTTP/1.0 without a Host", "GET /echo HTTP/1.0\r\n\r\n", status: 200),
    .init("A client speaks HTTP/1.0 with a Host", "GET /echo HTTP/1.0\r\nHost: kith.test\r\n\r\n", status: 200),
    .init("A head is asked for", head("HEAD /echo", [close]), status: 200),
    post("A body has a length", "Content-Length: 5", close, body: "hello", status: 200),
    post("A body is empty", "Content-Length: 0", close, status: 200),
    post("A body is not mentioned", close, status: 200),
    post("A body is chunked", "Transfer-Encoding: chunked", close, body: "5\r\nhello\r\n0\r\n\r\n", status: 200),
    post("A coding is in upper case", "TRANSFER-ENCODING: CHUNKED", close, body: "0\r\n\r\n", status: 200),
    post(
      "Sizes have zeros and both cases", "Transfer-Encoding: chunked", close,
      body: "0000000A\r\n0123456789\r\n0a\r\n0123456789\r\n00000000\r\n\r\n", status: 200),
    get("A GET says that it has no body", "Content-Length: 0", close, status: 200),
    .init("A path ends with a slash", head("GET /echo/", [close]), status: 200),
    .init("A query has dots and slashes", head("GET /echo?n=a//b/../c;d?e", [close]), status: 200),
    .init("A query is percent-encoded", head("GET /echo?n=%2F%2e%252f%C3%A9", [close]), status: 200),
    .init(
      "Blanks stand around values", "GET /echo HTTP/1.1\r\nHost:kith.test\t \r\nConnection: \tclose\r\n\r\n",
      status: 200),
    .init("A Host has a port", "GET /echo HTTP/1.1\r\nHost: kith.test:8080\r\n\(close)\r\n\r\n", status: 200),
    .init("A Host is an address of IPv4", "GET /echo HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\(close)\r\n\r\n", status: 200),
    .init("A Host is an address of IPv6", "GET /echo HTTP/1.1\r\nHost: [::1]:8080\r\n\(close)\r\n\r\n", status: 200),
    .init("A Host has an underscore", "GET /echo HTTP/1.1\r\nHost: kith_1.TEST\r\n\(close)\r\n\r\n", status: 200),
    get("A value is empty", "X-Other:", close, status: 200),
    get("A value has a tab inside", "X-Other: a\tb", close, status: 200),
    get("A value is not ASCII", "X-User-Email: zoë@kith.test", close, status: 200),
    embedding(
      "A value is not UTF-8", "GET /echo HTTP/1.1\r\nHost: kith.test\r\nX-User-Email: zo", 0xEB,
      after: "\r\n\(close)\r\n\r\n", status: 200),
    get("Connection names a field of the client's", "Connection: close, Keep-Me", "Keep-Me: no", status: 200),
  ]

  static let atTheLimit: [RawRequest] = [
    .init("A target has 8192 bytes", head("GET /echo?n=\(filler(8184))", [close]), status: 200),
    .init("A head has 16384 bytes", headOf(16 * 1024), status: 200),
    .init("There are 64 fields", head("GET /echo", fields(62) + [close]), status: 200),
    get("A name has 64 bytes", "\(filler(64)): a", close, status: 200),
    .init(
      "A Host has 255 bytes", "GET /echo HTTP/1.1\r\nHost: \(filler(255))\r\n\(close)\r\n\r\n", status: 200),
    post(
      "A body is as long as the route allows", to: "/small", "Content-Length: 1024", close, body: filler(1024),
      status: 200),
    post(
      "Chunks are as long as the route allows", to: "/small", "Transfer-Encoding: chunked", close,
      body: "400\r\n\(filler(1024))\r\n0\r\n\r\n", status: 200),
  ]

  private static func fields(_ count: Int) -> [String] { (1...count).map { "X-\($0): a" } }

  /// Fields that only the gateway and services may set are removed without a refusal.
  static let strippedFields: [RawRequest] = [
    get("X-User-ID is not believed", "X-User-ID: 1", close, status: 200),
    get("X-Service-Key is not believed", "X-Service-Key: 1", close, status: 200),
    get("X-Session-ID is not believed", "X-Session-ID: 1", close, status: 200),
    get("X-User-Email is not believed", "X-User-Email: 1", close, status: 200),
    get("X-Service-Name is not believed", "X-Service-Name: 1", close, status: 200),
    get("X-Ended-Sessions is not believed", "X-Ended-Sessions: 1", close, status: 200),
    get("Two X-User-ID are not believed", "X-User-ID: 1", "x-user-id: 2", close, status: 200),
    get("X-USER-ID in upper case is not believed", "X-USER-ID: 1", close, status: 200),
    get(
      "X-Forwarded-For is not believed", "X-Forwarded-For: 10.0.0.1", "Forwarded: for=10.0.0.1", close, status: 200),
  ]
}
