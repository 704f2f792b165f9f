import NIOHTTP1
import Wire

/// What a request must look like before anything else is asked of it. Whatever two programs could read differently is
/// refused, because the next program might.
enum Canonical {
  static let headersMax = 64
  static let targetBytesMax = 8 * 1024

  /// - Throws: the failure to answer with; the connection is closed after it.
  static func check(_ head: HTTPRequestHead) throws(Failure) {
    guard head.version == .http1_1 || head.version == .http1_0 else { throw .malformedRequest }
    guard methods.contains(head.method) else { throw .methodNotAllowed(allow: methods.map(\.rawValue).sorted()) }
    try checkTarget(head.uri)
    try checkHeaders(head)
  }

  private static let methods: [HTTPMethod] = [.GET, .HEAD, .POST, .PUT, .PATCH, .DELETE, .OPTIONS]

  /// Origin form (RFC 9112 §3.2.1), without dot segments, empty segments, encoded slashes or control characters.
  static func checkTarget(_ target: String) throws(Failure) {
    let bytes = target.utf8
    guard bytes.count <= targetBytesMax, bytes.first == UInt8(ascii: "/") else { throw .malformedRequest }
    let path = target.prefix { $0 != "?" }
    var previous: UInt8 = 0
    for byte in bytes {
      guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "#"), byte != UInt8(ascii: "\\") else {
        throw .malformedRequest
      }
    }
    for byte in path.utf8 {
      if byte == UInt8(ascii: "/"), previous == byte { throw .malformedRequest }
      previous = byte
    }
    guard path.utf8.contains(UInt8(ascii: ".")) || path.utf8.contains(UInt8(ascii: "%")) else { return }
    for segment in path.split(separator: "/") {
      let plain = segment.lowercased()
      let dots = plain.replacing("%2e", with: ".")
      guard dots != ".", dots != "..", !plain.contains("%2f"), !plain.contains("%5c"), !plain.contains("%00") else {
        throw .malformedRequest
      }
    }
  }

  private static func checkHeaders(_ head: HTTPRequestHead) throws(Failure) {
    var hosts = 0
    var lengths = 0
    var codings = 0
    var count = 0
    for (name, value) in head.headers {
      count += 1
      guard isPlain(name) else { throw .malformedRequest }
      switch name.lowercased() {
      case "host":
        hosts += 1
        guard isHost(value) else { throw .malformedRequest }
      case "content-length":
        lengths += 1
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .malformedRequest }
      case "transfer-encoding":
        codings += 1
        guard value == "chunked" else { throw .malformedRequest }
      default: break
      }
    }
    guard count <= headersMax else { throw .headersTooLarge }
    guard hosts == 1 || (hosts == 0 && head.version == .http1_0) else { throw .malformedRequest }
    guard lengths + codings <= 1, codings == 0 || head.version == .http1_1 else { throw .malformedRequest }
  }

  /// Letters, digits and hyphens. An underscore becomes a hyphen in some programs: `X_User_ID` would be a way in.
  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  private static func isHost(_ value: String) -> Bool {
    (1...255).contains(value.utf8.count)
      && value.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"),
          UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}

extension Failure {
  static let malformedRequest = Failure(.malformed, "malformed_request", "This is not a request that can be served.")
  static let headersTooLarge = Failure(.malformed, "headers_too_large", "The request has too many headers.")
}
