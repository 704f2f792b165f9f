import Foundation

/// Encoders and decoders set once, so that every body writes its times and slashes the same way.
package enum JSON {
  /// For apps that decode dates with `.iso8601`: whole seconds.
  package static func encode(_ value: some Encodable) throws -> Data { try seconds.encode(value) }

  /// For bodies between services: milliseconds.
  package static func encodeExact(_ value: some Encodable) throws -> Data { try milliseconds.encode(value) }

  /// - Parameter userInfo: what the types themselves want to know.
  package static func decode<T: Decodable>(
    _ type: T.Type, from data: Data, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws -> T {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = dates
    decoder.userInfo = userInfo
    decoder.userInfo[.jsonText] = JSONText(data)
    return try decoder.decode(type, from: data)
  }

  private static let seconds = encoder(Instant.seconds)
  private static let milliseconds = encoder(Instant.milliseconds)

  private static let dates = JSONDecoder.DateDecodingStrategy.custom { decoder in
    let container = try decoder.singleValueContainer()
    guard let date = Instant.parse(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "must be a time in UTC with Z")
    }
    return date
  }

  private static func encoder(_ format: @escaping @Sendable (Date) -> String) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(format(date))
    }
    return encoder
  }
}

/// A member that is written as null when there is no value, for clients that expect every member to be there.
@propertyWrapper
package struct OrNull<Value: Codable & Sendable & Hashable>: Codable, Sendable, Hashable {
  package var wrappedValue: Value?

  package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

/// Found by the code that the compiler writes for a body: values without another container around each.
extension KeyedEncodingContainer {
  package mutating func encode<T: RawRepresentable<String> & Encodable>(_ value: T, forKey key: Key) throws {
    try encode(value.rawValue, forKey: key)
  }

  package mutating func encode<T>(_ value: OrNull<T>, forKey key: Key) throws {
    guard let value = value.wrappedValue else { return try encodeNil(forKey: key) }
    try encode(value, forKey: key)
  }
}

extension KeyedDecodingContainer {
  /// A missing member is the same as null.
  package func decode<T>(_ type: OrNull<T>.Type, forKey key: Key) throws -> OrNull<T> {
    try decodeIfPresent(type, forKey: key) ?? OrNull(wrappedValue: nil)
  }
}
