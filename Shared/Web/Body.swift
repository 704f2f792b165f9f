import Foundation
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Wire

extension Request {
  /// The body as `type`.
  ///
  /// - Throws: 415 when it says that it is something else, 413 over `bytesMax`, 400 when it is not JSON in UTF-8, and the
  ///   family's validation status with the names of the fields that are missing or of another type.
  package func json<T: Decodable>(_ type: T.Type, bytesMax: Int = 64 * 1024) async throws -> T {
    if let contentType = headers[.contentType]?.lowercased() {
      guard contentType.hasPrefix("application/json") || contentType.contains("+json") else {
        throw Failure.unsupportedType
      }
    }
    let buffer: ByteBuffer
    do { buffer = try await body.collect(upTo: bytesMax) } catch is NIOTooManyBytesError { throw Failure.tooLarge }
    // The decoder looks only at the texts that `type` reads.
    guard String(validating: buffer.readableBytesView, as: UTF8.self) != nil else { throw Failure.malformed }
    let data = Data(buffer: buffer)
    do { return try JSON.decode(type, from: data) } catch let error as DecodingError {
      guard Failure(error) != .malformed else { throw Failure.unreadable(data) }
      throw WrongFields.failure(error, reading: data, as: type)
    }
  }
}

extension Request {
  /// Reads the body, and leaves it to be read again.
  ///
  /// - Throws: 413 over `bytesMax`.
  @discardableResult
  package mutating func takeBody(upTo bytesMax: Int = 64 * 1024) async throws -> ByteBuffer {
    do { return try await collectBody(upTo: bytesMax) } catch is NIOTooManyBytesError { throw Failure.tooLarge }
  }

  /// The same as ``json(_:bytesMax:)`` for a body that may be left out; nil without one.
  package func jsonIfAny<T: Decodable>(_ type: T.Type, bytesMax: Int = 64 * 1024) async throws -> T? {
    var request = self
    let isEmpty = try await request.takeBody(upTo: bytesMax).readableBytes == 0
    return isEmpty ? nil : try await request.json(type, bytesMax: bytesMax)
  }
}

extension Failure {
  /// What was wrong with a body, in words for the person who wrote the client.
  package init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context):
      self = .invalid(.init(Self.path(context.codingPath + [key]), "is required"))
    case .valueNotFound(_, let context):
      self = .invalid(.init(Self.path(context.codingPath), "is required"))
    case .typeMismatch(let type, let context):
      self = .invalid(.init(Self.path(context.codingPath), "must be \(Self.words(for: type))"))
    case .dataCorrupted(let context) where context.codingPath.isEmpty: self = .malformed
    case .dataCorrupted(let context):
      let words = context.debugDescription
      self = .invalid(.init(Self.path(context.codingPath), words.hasPrefix("must") ? words : "is not valid"))
    @unknown default: self = .malformed
    }
  }

  /// Foundation says "not valid JSON" also of a number that does not fit where a whole one is wanted.
  fileprivate static func unreadable(_ data: Data) -> Failure {
    // `try?`: what cannot be parsed is malformed.
    guard let body = try? JSONSerialization.jsonObject(with: data) else { return .malformed }
    let odd = (body as? [String: Any])?.filter { ($0.value as? NSNumber).map { Int(exactly: $0) == nil } ?? false }
    let field = odd.flatMap { $0.count == 1 ? $0.keys.first : nil } ?? "body"
    return .invalid(.init(field, field == "body" ? "has a number that is not whole" : "must be a whole number"))
  }

  private static func path(_ path: [any CodingKey]) -> String {
    path.isEmpty ? "body" : path.map(\.pathPart).joined(separator: ".")
  }

  private static func words(for type: Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "a whole number"
    case is any BinaryFloatingPoint.Type: "a number"
    case is [Any].Type: "a list"
    default: "an object"
    }
  }
}

extension Response {
  /// Times in whole seconds.
  package static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
    answer(status) { try JSON.encode(value) }
  }

  /// Times with milliseconds, for bodies between services.
  package static func exactJSON(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
    answer(status) { try JSON.encodeExact(value) }
  }

  private static func answer(_ status: HTTPResponse.Status, _ encode: () throws -> Data) -> Response {
    do {
      let body = ByteBuffer(data: try encode())
      return Response(
        status: status, headers: [.contentType: "application/json", .contentLength: String(body.readableBytes)],
        body: .init(byteBuffer: body))
    } catch {
      // Encoding fails for numbers that JSON cannot hold, and no body of ours has such a number.
      return Response(status: .internalServerError)
    }
  }
}

extension Request {
  /// A whole number in the query string.
  ///
  /// - Throws: the validation failure that names it, for text or a number out of range.
  package func queryNumber(_ name: String, default fallback: Int, in range: ClosedRange<Int>) throws -> Int {
    guard let text = uri.queryParameters[name[...]] else { return fallback }
    guard let value = Int(text), range.contains(value) else {
      let bounds =
        range.upperBound == .max ? "\(range.lowerBound) or more" : "from \(range.lowerBound) to \(range.upperBound)"
      throw Failure.invalid(.init(name, "must be a whole number \(bounds)"))
    }
    return value
  }

  /// `Idempotency-Key` for a route with a rule of its own, if there is one; an empty one counts as none.
  ///
  /// - Throws: the validation failure for a key that is longer than 255 bytes.
  package func idempotencyKey() throws -> String? {
    guard let key = headers[.idempotencyKey], !key.isEmpty else { return nil }
    guard key.utf8.count <= 255 else {
      throw Failure.invalid(.init("Idempotency-Key", "must have at most 255 characters"))
    }
    return key
  }
}
