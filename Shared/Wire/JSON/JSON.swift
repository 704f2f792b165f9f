import ClientBodies
import Foundation

/// The JSON encoders and decoders of all bodies, with the same format for dates and slashes.
package enum JSON {
  /// Encodes dates with whole seconds, for apps that decode them with `.iso8601`.
  package static func encode(_ value: some Encodable) throws -> Data { Data(try bytes(of: value)) }

  /// Encodes dates with milliseconds, for bodies between services.
  package static func encodeExact(_ value: some Encodable) throws -> Data { Data(try bytes(of: value, isExact: true)) }

  /// What ``encode(_:)`` or ``encodeExact(_:)`` returns, without another copy.
  package static func bytes(of value: some Encodable, isExact: Bool = false) throws -> [UInt8] {
    if let value = value as? any JSONWritable {
      var writer = JSONWriter(isExact: isExact)
      try value.write(to: &writer)
      return writer.text
    }
    var text: [UInt8] = []
    try tree(of: value, isExact: isExact).write(to: &text)
    return text
  }

  static func tree(of value: some Encodable, isExact: Bool) throws -> JSONTree {
    try JSONTree(encoding: value) { isExact ? RFC3339.milliseconds($0) : RFC3339.seconds($0) }
  }

  /// - Parameter userInfo: passed to the decoder.
  package static func decode<T: Decodable>(
    _ type: T.Type, from data: Data, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws -> T {
    try readValue(type, from: Array(data)) ?? decodeByDecoder(type, from: data, userInfo: userInfo)
  }

  /// Also types that are read without a decoder.
  package static func decodeByDecoder<T: Decodable>(
    _ type: T.Type, from data: Data, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws -> T {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = dates
    decoder.userInfo = userInfo
    decoder.userInfo[.jsonText] = JSONText(data)
    return try decoder.decode(type, from: data)
  }

  /// The value of a type that is read without a decoder (``JSONReadable``); nil for other types, and for what the
  /// decoder has to look at.
  package static func readValue<T>(_ type: T.Type, from bytes: @autoclosure () -> [UInt8]) -> T? {
    guard let readable = type as? any JSONReadable.Type else { return nil }
    // `try?`: the decoder finds what is wrong.
    return try? readable.init(json: bytes()) as? T
  }

  private static let dates = JSONDecoder.DateDecodingStrategy.custom { decoder in
    let container = try decoder.singleValueContainer()
    guard let date = RFC3339.parse(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be a time in UTC with Z")
    }
    return date
  }
}

package typealias NullCodable = ClientBodies.NullCodable

/// Overloads for the synthesized `encode(to:)` of bodies, which avoid a container of its own for each value.
/// `ClientBodies` has the same (`NullCodable.swift`): its synthesized code cannot use these.
extension KeyedEncodingContainer {
  package mutating func encode<T: RawRepresentable<String> & Encodable>(_ value: T, forKey key: Key) throws {
    try encode(value.rawValue, forKey: key)
  }

  package mutating func encode<T>(_ value: NullCodable<T>, forKey key: Key) throws {
    guard let value = value.wrappedValue else { return try encodeNil(forKey: key) }
    try encode(value, forKey: key)
  }
}

extension KeyedDecodingContainer {
  /// Decodes a missing member as nil.
  package func decode<T: Codable>(_ type: NullCodable<T>.Type, forKey key: Key) throws -> NullCodable<T> {
    try decodeIfPresent(type, forKey: key) ?? NullCodable(wrappedValue: nil)
  }
}
