import Foundation
import Wire

/// A body that is decoded without its ``SkippedFields``, which are known to be invalid.
struct SkippingBody<Value: Decodable>: Decodable {
  let value: Value

  init(from decoder: any Decoder) throws {
    guard let skipped = decoder.userInfo[.skippedFields] as? SkippedFields else {
      value = try Value(from: decoder)
      return
    }
    value = try Value(from: FieldSkippingDecoder(inner: decoder, skipped: skipped))
  }
}

/// A decoder that forwards to another one, with placeholders for ``SkippedFields``.
private struct FieldSkippingDecoder: Decoder {
  let inner: any Decoder
  let skipped: SkippedFields

  var codingPath: [any CodingKey] { inner.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { inner.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(SkippingKeyedContainer(inner: try inner.container(keyedBy: type), skipped: skipped))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    SkippingUnkeyedContainer(inner: try inner.unkeyedContainer(), skipped: skipped)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { try inner.singleValueContainer() }

  /// Types that `JSONDecoder` decodes by its own strategies, which apply only when it is given the type itself.
  static func isOpaque(_ type: Any.Type) -> Bool {
    type == Date.self || type == URL.self || type == Data.self || type == Decimal.self
  }
}

private struct SkippingKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let inner: KeyedDecodingContainer<Key>
  let skipped: SkippedFields

  var codingPath: [any CodingKey] { inner.codingPath }
  var allKeys: [Key] { inner.allKeys }

  private func isSkipped(_ key: Key) -> Bool { skipped.contains(key, in: codingPath) }

  func contains(_ key: Key) -> Bool { inner.contains(key) }
  func decodeNil(forKey key: Key) throws -> Bool { try isSkipped(key) || inner.decodeNil(forKey: key) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    if isSkipped(key), let value = SkippedFields.placeholder(for: type) { return value }
    if FieldSkippingDecoder.isOpaque(type) { return try inner.decode(type, forKey: key) }
    return try inner.decode(SkippingBody<T>.self, forKey: key).value
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try isSkipped(key) ? false : inner.decode(type, forKey: key)
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try isSkipped(key) ? "" : inner.decode(type, forKey: key)
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try isSkipped(key) ? 0 : inner.decode(type, forKey: key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    KeyedDecodingContainer(
      SkippingKeyedContainer<Nested>(inner: try inner.nestedContainer(keyedBy: type, forKey: key), skipped: skipped))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    SkippingUnkeyedContainer(inner: try inner.nestedUnkeyedContainer(forKey: key), skipped: skipped)
  }

  func superDecoder() throws -> any Decoder { try inner.superDecoder() }
  func superDecoder(forKey key: Key) throws -> any Decoder { try inner.superDecoder(forKey: key) }
}

private struct SkippingUnkeyedContainer: UnkeyedDecodingContainer {
  var inner: any UnkeyedDecodingContainer
  let skipped: SkippedFields

  var codingPath: [any CodingKey] { inner.codingPath }
  var count: Int? { inner.count }
  var isAtEnd: Bool { inner.isAtEnd }
  var currentIndex: Int { inner.currentIndex }

  private var isNextSkipped: Bool { skipped.contains(Index(currentIndex), in: codingPath) }

  /// Skips the next element if it is in ``SkippedFields``, and says whether it did.
  private mutating func skipNext() throws -> Bool {
    guard isNextSkipped else { return false }
    if try !inner.decodeNil() { _ = try inner.decode(IgnoredValue.self) }
    return true
  }

  mutating func decodeNil() throws -> Bool { try inner.decodeNil() }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if isNextSkipped, let value = SkippedFields.placeholder(for: type), try skipNext() { return value }
    if FieldSkippingDecoder.isOpaque(type) { return try inner.decode(type) }
    return try inner.decode(SkippingBody<T>.self).value
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try skipNext() ? false : inner.decode(type)
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try skipNext() ? "" : inner.decode(type)
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try skipNext() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try skipNext() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try skipNext() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try skipNext() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try skipNext() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try skipNext() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try skipNext() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try skipNext() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try skipNext() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try skipNext() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try skipNext() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try skipNext() ? 0 : inner.decode(type)
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
    KeyedDecodingContainer(
      SkippingKeyedContainer<Nested>(inner: try inner.nestedContainer(keyedBy: type), skipped: skipped))
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    SkippingUnkeyedContainer(inner: try inner.nestedUnkeyedContainer(), skipped: skipped)
  }

  mutating func superDecoder() throws -> any Decoder { try inner.superDecoder() }
}

/// The index of an array element as a coding key.
private struct Index: CodingKey {
  let intValue: Int?
  let stringValue: String

  init(_ index: Int) {
    intValue = index
    stringValue = String(index)
  }

  init?(intValue: Int) { self.init(intValue) }
  init?(stringValue: String) { nil }
}

/// Any JSON value, which is not read.
private struct IgnoredValue: Decodable {
  init(from decoder: any Decoder) throws {}
}
