import Foundation
import NIOCore
import StrictHTTP
import Web
import Wire

/// A response that the gateway itself generates.
struct LocalResponse: Sendable {
  let status: Int
  let headers: [(name: String, value: String)]
  let body: [UInt8]

  init(_ status: Int, _ type: String? = nil, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = (type.map { [(name: "content-type", value: $0)] } ?? []) + headers
    self.body = body
  }

  /// For responses that hold only for one caller or one moment (RFC 9111 §5.2.2.5).
  static let noStore = (name: "cache-control", value: "no-store")

  init(_ status: Int, json body: Data) {
    self.init(status, "application/json", headers: status == 503 ? [("retry-after", "1")] : [], body: Array(body))
  }

  /// `try?`: the bodies of local responses consist of text and numbers, which can always be encoded.
  init(_ status: Int, json body: some Encodable) { self.init(status, json: (try? JSON.encode(body)) ?? Data()) }

  init(_ failure: Failure, as dialect: APIDialect, version: GoTrueVersion? = nil, requestID: String) {
    let response = FailureResponse(failure, as: dialect, version: version, requestID: requestID)
    self.init(response.status, headers: response.headers, body: Array(response.body))
  }

  func adding(_ header: (name: String, value: String)) -> LocalResponse {
    LocalResponse(status, headers: headers + [header], body: body)
  }

  var hasContentSecurityPolicy: Bool { headers.contains { $0.name == "content-security-policy" } }

  /// Writes the status line and the headers, without those that the gateway adds to every response and without the
  /// empty line that ends the head.
  func writeHead(to out: inout ByteBuffer, date: [UInt8]) {
    out.writeStaticString("HTTP/1.1 ")
    out.writeDecimal(status)
    out.writeStaticString(" ")
    out.writeString(ReasonPhrase.of(status))
    out.writeStaticString("\r\n")
    out.writeBytes(date)
    for (name, value) in headers {
      out.writeString(name)
      out.writeStaticString(": ")
      out.writeString(value)
      out.writeStaticString("\r\n")
    }
    guard status != 204 else { return }
    out.writeStaticString("content-length: ")
    out.writeDecimal(body.count)
    out.writeStaticString("\r\n")
  }
}

extension Failure {
  static let webSocketUnsupported = Failure(
    .notImplemented, "websocket_unsupported", "This path does not have a WebSocket.")
  static let upgradeRequired = Failure(
    .upgradeRequired, "upgrade_required", "This path has a WebSocket of version 13, and nothing else.")
  static let upstreamBroke = Failure(
    .badGateway, "bad_gateway", "The service broke off; it may or may not have done what was asked.")

  static func limited(for seconds: Int) -> Failure {
    Failure(.limited, "rate_limited", "Too many requests. Please try again later.", retryAfterSeconds: seconds)
  }

  static let tooManyConnections = Failure(
    .unavailable, "too_many_connections", "Too many connections are open.", retryAfterSeconds: 5)
  static let tooManySockets = Failure(
    .unavailable, "too_many_sockets", "Too many WebSockets are open.", retryAfterSeconds: 5)
  static let tooManySocketsFromAddress = Failure(
    .limited, "too_many_sockets", "Too many WebSockets are open from this address.", retryAfterSeconds: 5)
  static let tooManyConnectionsFromAddress = Failure(
    .limited, "too_many_connections", "Too many connections are open from this address.", retryAfterSeconds: 5)
}
