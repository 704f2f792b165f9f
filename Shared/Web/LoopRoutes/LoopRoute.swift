import NIOCore
import Wire

/// Responds to the plain case of a GET route on the event loop, without a task.
///
/// Tasks, their switches between executors, the fields of a request and the copies of what they are passed in take a
/// third of the processor time of a small response. A loop route saves them where a response is made of what is in
/// memory, or of one row. Everything else it leaves to the route of the same path, which has to give the same response.
///
/// No middleware of the service runs before it, and no deadline ends it.
final class LoopRoute: Sendable {
  /// The path template, as the route has it: at most one variable, in braces.
  let template: String
  let respond: @Sendable (LoopRequest) throws -> LoopResult?
  private let beginning: [UInt8]
  /// What follows the variable; nil for a path without one.
  private let ending: [UInt8]?

  /// - Precondition: the template has at most one variable.
  init(_ template: String, respond: @escaping @Sendable (LoopRequest) throws -> LoopResult?) {
    self.template = template
    self.respond = respond
    let parts = template.split(separator: /\{[A-Za-z_]+\}/, omittingEmptySubsequences: false)
    precondition(parts.count <= 2 && !parts[0].contains(":"), "\(template) has other variables")
    beginning = Array(parts[0].utf8)
    ending = parts.count > 1 ? Array(parts[1].utf8) : nil
  }

  /// Where the variable is in the path, empty for a path without one; nil when the path is another.
  func variable(in path: Span<UInt8>) -> Range<Int>? {
    guard path.count >= beginning.count, Self.isSame(path, at: 0, beginning) else { return nil }
    guard let ending else { return path.count == beginning.count ? 0..<0 : nil }
    let end = path.count - ending.count
    guard end > beginning.count, Self.isSame(path, at: end, ending) else { return nil }
    // A variable is one segment.
    for index in beginning.count..<end where path[index] == UInt8(ascii: "/") { return nil }
    return beginning.count..<end
  }

  private static func isSame(_ path: Span<UInt8>, at start: Int, _ bytes: [UInt8]) -> Bool {
    for index in bytes.indices where path[start + index] != bytes[index] { return false }
    return true
  }
}

/// What a loop route makes of a request that it does not leave to the route.
package enum LoopResult {
  case response(LoopResponse)
  /// Fails where the route would throw; nil leaves the request to the route after all. It has to complete in a bounded
  /// time: no deadline ends it.
  case later(EventLoopFuture<LoopResponse?>)
}

/// A response that is whole.
///
/// Its header fields are kept as they are written: making `HTTPFields` of them takes a twentieth of the time of a response.
package struct LoopResponse: Sendable {
  let status: Int
  /// The header fields, each with the line break before it.
  private(set) var lines: [UInt8] = []
  let body: ByteBuffer
  /// Whether no request follows it on the connection.
  var closesConnection = false

  /// A response with a `Content-Length`.
  package init(status: Int = 200, body: ByteBuffer) {
    self.status = status
    self.body = body
    lines.reserveCapacity(256)
    add("Content-Length", String(body.readableBytes))
  }

  /// Adds a header field.
  ///
  /// - Parameters:
  ///   - name: spelled as routes spell it.
  ///   - value: without line breaks.
  package mutating func add(_ name: String, _ value: String) {
    lines.append("\r\n")
    lines.append(utf8: name)
    lines.append(": ")
    lines.append(utf8: value)
  }

  /// A JSON response for its caller only (RFC 9111 §5.2.2.7).
  package static func json(_ value: some Encodable) throws -> LoopResponse {
    var response = LoopResponse(body: ByteBuffer(bytes: try JSON.bytes(of: value)))
    response.add("Content-Type", "application/json")
    response.add("Cache-Control", "private")
    return response
  }
}
