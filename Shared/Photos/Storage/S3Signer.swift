import Crypto
import Foundation

/// Signs requests to S3-compatible stores (AWS Signature Version 4), in headers or in the URL.
struct S3Signer: Sendable {
  let accessKey: String
  let secret: String
  /// The token of temporary credentials.
  var sessionToken: String?
  let region: String

  /// The signed parts of a request. Names and values of the query are not percent-encoded yet.
  struct Request: Sendable {
    let method: String
    /// The value of `Host`, with the port unless it is the scheme's default.
    let host: String
    /// Percent-encoded, beginning with a slash.
    let path: String
    var query: [String: String] = [:]
  }

  /// The headers to send besides `Host`: the signature, which covers all of `headers`, and `headers` themselves, whose
  /// names must be in lower case.
  func headers(_ request: Request, adding headers: [String: String] = [:], body: [UInt8], at now: Date)
    -> [String: String]
  {
    let payload = Self.hex(SHA256.hash(data: body))
    var headers = headers
    headers["x-amz-content-sha256"] = payload
    headers["x-amz-date"] = Self.time(now)
    headers["x-amz-security-token"] = sessionToken
    var signed = headers
    signed["host"] = request.host
    let names = signed.keys.sorted().joined(separator: ";")
    let signature = signature(request, signed, payload: payload, at: now)
    headers["authorization"] =
      "\(Self.algorithm) Credential=\(accessKey)/\(scope(now)), SignedHeaders=\(names), Signature=\(signature)"
    return headers
  }

  /// A presigned path and query, with which anybody can make this request for `seconds`, at most a week.
  ///
  /// - Parameter bodyBytes: the exact size of the body; nil for any.
  func presigned(_ request: Request, bodyBytes: Int? = nil, at now: Date, seconds: Int) -> String {
    var request = request
    request.query["X-Amz-Algorithm"] = Self.algorithm
    request.query["X-Amz-Credential"] = "\(accessKey)/\(scope(now))"
    request.query["X-Amz-Date"] = Self.time(now)
    request.query["X-Amz-Expires"] = String(seconds)
    var headers = ["host": request.host]
    headers["content-length"] = bodyBytes.map(String.init)
    request.query["X-Amz-SignedHeaders"] = headers.keys.sorted().joined(separator: ";")
    request.query["X-Amz-Security-Token"] = sessionToken
    let signature = signature(request, headers, payload: "UNSIGNED-PAYLOAD", at: now)
    return "\(request.path)?\(Self.canonical(request.query))&X-Amz-Signature=\(signature)"
  }

  /// A query in canonical form, as it is signed and must be sent.
  static func canonical(_ query: [String: String]) -> String {
    query.map { (encoded($0.key), encoded($0.value)) }.sorted { $0.0 < $1.0 }.map { "\($0)=\($1)" }
      .joined(separator: "&")
  }

  private static let algorithm = "AWS4-HMAC-SHA256"

  private func signature(_ request: Request, _ headers: [String: String], payload: String, at now: Date) -> String {
    let sorted = headers.sorted { $0.key < $1.key }
    let canonical = [
      request.method, request.path, Self.canonical(request.query),
      sorted.map { "\($0.key):\($0.value)\n" }.joined(), sorted.map(\.key).joined(separator: ";"), payload,
    ].joined(separator: "\n")
    let digest = Self.hex(SHA256.hash(data: Data(canonical.utf8)))
    let toSign = [Self.algorithm, Self.time(now), scope(now), digest].joined(separator: "\n")
    return Self.hex(HMAC<SHA256>.authenticationCode(for: Data(toSign.utf8), using: key(now)))
  }

  private func key(_ now: Date) -> SymmetricKey {
    [Self.day(now), region, "s3", "aws4_request"].reduce(SymmetricKey(data: Data("AWS4\(secret)".utf8))) { key, part in
      SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
    }
  }

  private func scope(_ now: Date) -> String { "\(Self.day(now))/\(region)/s3/aws4_request" }

  private static func day(_ now: Date) -> String { String(time(now).prefix(8)) }

  private static func time(_ now: Date) -> String {
    now.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
  }

  /// Percent-encodes every byte except the unreserved characters of RFC 3986.
  private static func encoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default: encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }

  static func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
