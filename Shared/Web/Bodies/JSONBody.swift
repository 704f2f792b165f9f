import Foundation
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Wire

extension Request {
  /// The body decoded as `type`.
  ///
  /// - Throws: 415 for a content type other than JSON, 413 over `bytesMax`, 400 when it is not JSON in UTF-8, and a
  ///   validation failure that names every field that is missing or has another type.
  package func json<T: Decodable>(_ type: T.Type, bytesMax: Int = 64 * 1024) async throws -> T {
    try Self.decode(type, from: try await jsonBody(upTo: bytesMax))
  }

  private func jsonBody(upTo bytesMax: Int) async throws -> ByteBuffer {
    if let contentType = headers[.contentType]?.lowercased() {
      guard contentType.hasPrefix("application/json") || contentType.contains("+json") else {
        throw Failure.unsupportedType
      }
    }
    do { return try await body.collect(upTo: bytesMax) } catch is NIOTooManyBytesError { throw Failure.tooLarge }
  }

  private static func decode<T: Decodable>(_ type: T.Type, from body: ByteBuffer) throws -> T {
    if let value = JSON.readValue(type, from: Array(body.readableBytesView)) { return value }
    // The decoder validates only the strings that `type` reads.
    guard String(validating: body.readableBytesView, as: UTF8.self) != nil else { throw Failure.malformed }
    let data = Data(buffer: body)
    do { return try JSON.decodeByDecoder(type, from: data) } catch let error as DecodingError {
      guard Failure(error) != .malformed else { throw Failure.malformedOrNotWhole(data) }
      throw DecodingErrorCollector.failure(error, decoding: data, as: type)
    }
  }
}

extension Request {
  /// Collects the body. It can be read again afterwards.
  ///
  /// - Throws: 413 over `bytesMax`.
  @discardableResult
  package mutating func bufferBody(upTo bytesMax: Int = 64 * 1024) async throws -> ByteBuffer {
    do { return try await collectBody(upTo: bytesMax) } catch is NIOTooManyBytesError { throw Failure.tooLarge }
  }

  /// The same as ``json(_:bytesMax:)`` for an optional body; nil when it is empty.
  package func jsonIfPresent<T: Decodable>(_ type: T.Type, bytesMax: Int = 64 * 1024) async throws -> T? {
    var request = self
    let isEmpty = try await request.bufferBody(upTo: bytesMax).readableBytes == 0
    return isEmpty ? nil : try await request.json(type, bytesMax: bytesMax)
  }
}

extension Failure {
  /// The validation failure for a body that could not be decoded, with a message for client developers.
  package init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context):
      self = .invalid(.init(Self.path(context.codingPath + [key]), "is required"))
    case .valueNotFound(_, let context):
      self = .invalid(.init(Self.path(context.codingPath), "is required"))
    case .typeMismatch(let type, let context):
      self = .invalid(.init(Self.path(context.codingPath), "must be \(Self.name(of: type))"))
    case .dataCorrupted(let context) where context.codingPath.isEmpty: self = .malformed
    case .dataCorrupted(let context):
      let message = context.debugDescription
      self = .invalid(.init(Self.path(context.codingPath), message.hasPrefix("must") ? message : "is not valid"))
    @unknown default: self = .malformed
    }
  }

  /// Foundation reports "not valid JSON" also for a fraction where an integer is expected.
  fileprivate static func malformedOrNotWhole(_ data: Data) -> Failure {
    // `try?`: data that cannot be parsed is malformed.
    guard let body = try? JSONSerialization.jsonObject(with: data) else { return .malformed }
    let fractions = (body as? [String: Any])?.filter {
      ($0.value as? NSNumber).map { Int(exactly: $0) == nil } ?? false
    }
    let field = fractions.flatMap { $0.count == 1 ? $0.keys.first : nil } ?? "body"
    return .invalid(.init(field, field == "body" ? "has a number that is not whole" : "must be a whole number"))
  }

  private static func path(_ path: [any CodingKey]) -> String {
    path.isEmpty ? "body" : path.map(\.pathPart).joined(separator: ".")
  }

  private static func name(of type: Any.Type) -> String {
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
  /// A JSON response whose times have whole seconds.
  package static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
    response(status) { try JSON.bytes(of: value) }
  }

  /// A JSON response whose times have milliseconds, for bodies between services.
  package static func exactJSON(_ value: some Encodable, status: HTTPResponse.Status = .ok) -> Response {
    response(status) { try JSON.bytes(of: value, isExact: true) }
  }

  private static func response(_ status: HTTPResponse.Status, _ encode: () throws -> [UInt8]) -> Response {
    do {
      let body = ByteBuffer(bytes: try encode())
      return Response(
        status: status, headers: [.contentType: "application/json", .contentLength: String(body.readableBytes)],
        body: .init(byteBuffer: body))
    } catch {
      // Encoding fails for numbers that JSON cannot represent, which no response body contains.
      return Response(status: .internalServerError)
    }
  }
}

extension Request {
  /// An integer query parameter.
  ///
  /// - Throws: a validation failure that names the parameter, when it is not an integer in `range`.
  package func queryNumber(_ name: String, default fallback: Int, in range: ClosedRange<Int>) throws -> Int {
    guard let text = uri.queryParameters[name[...]] else { return fallback }
    guard let value = Int(text), range.contains(value) else {
      let bounds =
        range.upperBound == .max ? "\(range.lowerBound) or more" : "from \(range.lowerBound) to \(range.upperBound)"
      throw Failure.invalid(.init(name, "must be a whole number \(bounds)"))
    }
    return value
  }

  /// The `Idempotency-Key` header, for routes that do not use ``Idempotency``; nil when it is missing or empty.
  ///
  /// - Throws: a validation failure for a key that is longer than 255 bytes.
  package func idempotencyKey() throws -> String? {
    guard let key = headers[.idempotencyKey], !key.isEmpty else { return nil }
    guard key.utf8.count <= 255 else {
      throw Failure.invalid(.init("Idempotency-Key", "must have at most 255 characters"))
    }
    return key
  }
}
