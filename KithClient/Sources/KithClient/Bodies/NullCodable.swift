/// An optional member that is encoded as null instead of being left out, for apps that expect every member. What is
/// missing is decoded as nil.
@propertyWrapper
public struct NullCodable<Value: Encodable>: Encodable {
  public var wrappedValue: Value?

  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(wrappedValue)
  }
}

extension NullCodable: Decodable where Value: Decodable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }
}

extension NullCodable: Sendable where Value: Sendable {}
extension NullCodable: Equatable where Value: Equatable {}
extension NullCodable: Hashable where Value: Hashable {}

/// Overloads for the synthesized `encode(to:)` of bodies, which avoid a container of its own for each value. The
/// services have the same in `Wire` (`JSON.swift`): the synthesized code of their modules cannot use these.
extension KeyedEncodingContainer {
  mutating func encode<T: RawRepresentable<String> & Encodable>(_ value: T, forKey key: Key) throws {
    try encode(value.rawValue, forKey: key)
  }

  mutating func encode<T>(_ value: NullCodable<T>, forKey key: Key) throws {
    guard let value = value.wrappedValue else { return try encodeNil(forKey: key) }
    try encode(value, forKey: key)
  }
}

extension KeyedDecodingContainer {
  /// Decodes a missing member as nil.
  func decode<T: Codable>(_ type: NullCodable<T>.Type, forKey key: Key) throws -> NullCodable<T> {
    try decodeIfPresent(type, forKey: key) ?? NullCodable(wrappedValue: nil)
  }
}
