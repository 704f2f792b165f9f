import Foundation
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Wire

/// A request with an `Idempotency-Key`: its caller, route, key and content.
package struct IdempotentCall: Sendable {
  package let caller: String
  /// Method and path template.
  package let route: String
  package let key: String
  package let path: String
  /// What must be equal when the key is used again: path, query and body.
  package let content: Data
  package let requestID: String

  package init(caller: String, route: String, key: String, path: String, content: Data, requestID: String) {
    self.caller = caller
    self.route = route
    self.key = key
    self.path = path
    self.content = content
    self.requestID = requestID
  }
}

extension Request {
  /// The idempotent call; nil when `Idempotency-Key` is missing or empty. Collects the body, which can be read again
  /// afterwards.
  ///
  /// - Throws: 400 for a key that is not 1 to 255 visible ASCII characters; 413 for a body over `bytesMax`.
  package mutating func idempotentCall(
    by caller: String, _ context: some RequestContext, bytesMax: Int = 64 * 1024
  ) async throws -> IdempotentCall? {
    guard try checkedIdempotencyKey() != nil else { return nil }
    let buffer: ByteBuffer
    do { buffer = try await collectBody(upTo: bytesMax) } catch is NIOTooManyBytesError { throw Failure.tooLarge }
    return try idempotentCall(by: caller, context, content: Self.canonical(Data(buffer: buffer)))
  }

  /// The same for a body that has been read already and that `content` represents.
  package func idempotentCall(
    by caller: String, _ context: some RequestContext, content: Data
  ) throws -> IdempotentCall? {
    guard let key = try checkedIdempotencyKey() else { return nil }
    return IdempotentCall(
      caller: caller, route: "\(method.rawValue) \(context.endpointPath ?? uri.path)", key: key, path: uri.path,
      content: Data("\(uri.string)\n".utf8) + content, requestID: Trace.current?.requestID ?? "")
  }

  private func checkedIdempotencyKey() throws -> String? {
    guard let key = headers[.idempotencyKey], !key.isEmpty else { return nil }
    guard key.utf8.count <= 255, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw Failure.invalidIdempotencyKey
    }
    return key
  }

  /// JSON with sorted members: a client that encodes the same value again may write them in another order.
  private static func canonical(_ body: Data) -> Data {
    // `try?`: a body that is not JSON is compared byte by byte.
    guard let value = try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed),
      let sorted = try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
    else { return body }
    return sorted
  }
}

/// A response that can be stored: status, content type and complete body.
package struct Reply: Sendable, Hashable {
  package let status: Int
  package let contentType: String
  package let body: Data
  /// Whether it repeats an earlier reply.
  package var isRepeated = false

  package init(status: Int, contentType: String, body: Data) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  /// A JSON reply whose times have whole seconds.
  package static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Reply {
    Reply(status: status.code, contentType: "application/json", body: try JSON.encode(value))
  }

  /// A JSON reply whose times have milliseconds.
  package static func exactJSON(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Reply {
    Reply(status: status.code, contentType: "application/json", body: try JSON.encodeExact(value))
  }

  package var response: Response {
    var response = Response(
      status: .init(code: status), headers: [.contentType: contentType, .contentLength: String(body.count)],
      body: .init(byteBuffer: ByteBuffer(data: body)))
    if isRepeated { response.headers[.idempotencyHit] = "true" }
    return response
  }
}
