import Foundation
import Wire

/// Decodes values that nobody has encoded: of every type some, with members that are missing, null or there at random.
package final class RandomDecoder: Decoder {
  private var random: SeededRandom

  package init(seed: UInt64) { random = SeededRandom(seed: seed) }

  package func value<T: Decodable>(_ type: T.Type = T.self) throws -> T {
    if T.self == Date.self, let date = Date(timeIntervalSince1970: Double.random(in: 0..<4e9, using: &random)) as? T {
      return date
    }
    if let type = T.self as? any ParsedID.Type {
      let end = UInt64.random(in: 1 << 44..<1 << 48, using: &random)
      if let id = type.init("01a1fd2c-bd4b-7c1e-8a42-\(String(end, radix: 16))") as? T { return id }
    }
    return try T(from: self)
  }

  fileprivate func element<T>(of values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }

  package var codingPath: [any CodingKey] { [] }
  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Members(decoder: self))
  }

  package func unkeyedContainer() -> any UnkeyedDecodingContainer {
    Elements(decoder: self, count: element(of: [0, 1, 2]))
  }

  package func singleValueContainer() -> any SingleValueDecodingContainer { SingleValue(decoder: self) }

  fileprivate var isThere: Bool { element(of: [true, true, false]) }
  fileprivate var text: String { element(of: ["", "plain", "\"quoted\\\n", "é✓👋", "\u{1}\u{1F}", "a/b"]) }
  fileprivate var double: Double { element(of: [0, -0.25, 1.5, 1e300, 123_456_789.125]) }
  fileprivate func integer<T: FixedWidthInteger>() -> T { element(of: [.min, .max, 0, 1, 42]) }
}

/// An ``ID`` of any kind.
private protocol ParsedID { init?(_ text: String) }

extension ID: ParsedID {}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: RandomDecoder

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool { decoder.isThere }
  func decodeNil(forKey key: Key) -> Bool { !decoder.isThere }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try decoder.value() }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedDecodingContainer<Nested>
  {
    decoder.container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { decoder.unkeyedContainer() }
  func superDecoder() -> any Decoder { decoder }
  func superDecoder(forKey key: Key) -> any Decoder { decoder }
}

private struct Elements: UnkeyedDecodingContainer {
  let decoder: RandomDecoder
  let count: Int?
  var currentIndex = 0

  var codingPath: [any CodingKey] { [] }
  var isAtEnd: Bool { currentIndex == count }

  mutating func decodeNil() -> Bool { false }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    currentIndex += 1
    return try decoder.value()
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
    currentIndex += 1
    return decoder.container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
    currentIndex += 1
    return decoder.unkeyedContainer()
  }

  mutating func superDecoder() -> any Decoder { decoder }
}

private struct SingleValue: SingleValueDecodingContainer {
  let decoder: RandomDecoder

  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { !decoder.isThere }
  func decode(_ type: Bool.Type) -> Bool { decoder.element(of: [true, false]) }
  func decode(_ type: String.Type) -> String { decoder.text }
  func decode(_ type: Double.Type) -> Double { decoder.double }
  func decode(_ type: Float.Type) -> Float { Float(decoder.element(of: [0, 1.5])) }
  func decode(_ type: Int.Type) -> Int { decoder.integer() }
  func decode(_ type: Int8.Type) -> Int8 { decoder.integer() }
  func decode(_ type: Int16.Type) -> Int16 { decoder.integer() }
  func decode(_ type: Int32.Type) -> Int32 { decoder.integer() }
  func decode(_ type: Int64.Type) -> Int64 { decoder.integer() }
  func decode(_ type: UInt.Type) -> UInt { decoder.integer() }
  func decode(_ type: UInt8.Type) -> UInt8 { decoder.integer() }
  func decode(_ type: UInt16.Type) -> UInt16 { decoder.integer() }
  func decode(_ type: UInt32.Type) -> UInt32 { decoder.integer() }
  func decode(_ type: UInt64.Type) -> UInt64 { decoder.integer() }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.value() }
}
