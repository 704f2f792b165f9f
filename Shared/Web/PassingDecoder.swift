import Foundation
import Wire

/// A body of which some members are not read: ``WrongFields`` names them already.
struct PassingBody<Value: Decodable>: Decodable {
  let value: Value

  init(from decoder: any Decoder) throws {
    guard let passed = decoder.userInfo[.passedMembers] as? PassedMembers else {
      value = try Value(from: decoder)
      return
    }
    value = try Value(from: PassingDecoder(inner: decoder, passed: passed))
  }
}

/// Decodes as another decoder does, but for the members that are passed over.
private struct PassingDecoder: Decoder {
  let inner: any Decoder
  let passed: PassedMembers

  var codingPath: [any CodingKey] { inner.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { inner.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(PassingMembers(inner: try inner.container(keyedBy: type), passed: passed))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    PassingElements(inner: try inner.unkeyedContainer(), passed: passed)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { try inner.singleValueContainer() }

  /// The decoder of JSON treats these in its own way, which it does only for themselves.
  static func isOpaque(_ type: Any.Type) -> Bool {
    type == Date.self || type == URL.self || type == Data.self || type == Decimal.self
  }
}

private struct PassingMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let inner: KeyedDecodingContainer<Key>
  let passed: PassedMembers

  var codingPath: [any CodingKey] { inner.codingPath }
  var allKeys: [Key] { inner.allKeys }

  private func isPassed(_ key: Key) -> Bool { passed.contains(key, in: codingPath) }

  func contains(_ key: Key) -> Bool { inner.contains(key) }
  func decodeNil(forKey key: Key) throws -> Bool { try isPassed(key) || inner.decodeNil(forKey: key) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    if isPassed(key), let value = PassedMembers.standIn(for: type) { return value }
    if PassingDecoder.isOpaque(type) { return try inner.decode(type, forKey: key) }
    return try inner.decode(PassingBody<T>.self, forKey: key).value
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try isPassed(key) ? false : inner.decode(type, forKey: key)
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try isPassed(key) ? "" : inner.decode(type, forKey: key)
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try isPassed(key) ? 0 : inner.decode(type, forKey: key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    KeyedDecodingContainer(
      PassingMembers<Nested>(inner: try inner.nestedContainer(keyedBy: type, forKey: key), passed: passed))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    PassingElements(inner: try inner.nestedUnkeyedContainer(forKey: key), passed: passed)
  }

  func superDecoder() throws -> any Decoder { try inner.superDecoder() }
  func superDecoder(forKey key: Key) throws -> any Decoder { try inner.superDecoder(forKey: key) }
}

private struct PassingElements: UnkeyedDecodingContainer {
  var inner: any UnkeyedDecodingContainer
  let passed: PassedMembers

  var codingPath: [any CodingKey] { inner.codingPath }
  var count: Int? { inner.count }
  var isAtEnd: Bool { inner.isAtEnd }
  var currentIndex: Int { inner.currentIndex }

  private var isNextPassed: Bool { passed.contains(Index(currentIndex), in: codingPath) }

  /// Whether the next element is; it is behind us then.
  private mutating func isPassed() throws -> Bool {
    guard isNextPassed else { return false }
    if try !inner.decodeNil() { _ = try inner.decode(Anything.self) }
    return true
  }

  mutating func decodeNil() throws -> Bool { try inner.decodeNil() }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if isNextPassed, let value = PassedMembers.standIn(for: type), try isPassed() { return value }
    if PassingDecoder.isOpaque(type) { return try inner.decode(type) }
    return try inner.decode(PassingBody<T>.self).value
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try isPassed() ? false : inner.decode(type)
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try isPassed() ? "" : inner.decode(type)
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try isPassed() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try isPassed() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try isPassed() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try isPassed() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try isPassed() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try isPassed() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try isPassed() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try isPassed() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try isPassed() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try isPassed() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try isPassed() ? 0 : inner.decode(type)
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try isPassed() ? 0 : inner.decode(type)
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
    KeyedDecodingContainer(PassingMembers<Nested>(inner: try inner.nestedContainer(keyedBy: type), passed: passed))
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    PassingElements(inner: try inner.nestedUnkeyedContainer(), passed: passed)
  }

  mutating func superDecoder() throws -> any Decoder { try inner.superDecoder() }
}

/// The place of an element in a path.
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

/// A value of whatever kind.
private struct Anything: Decodable {
  init(from decoder: any Decoder) throws {}
}
