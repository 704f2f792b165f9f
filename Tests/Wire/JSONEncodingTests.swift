import Foundation
import Testing
import Wire

/// What `JSON` writes is what `JSONEncoder` writes.
@Suite struct JSONEncodingTests {
  private enum Color: String, Codable { case red }

  private class Animal: Encodable {
    let legs = 4
  }

  private final class Dog: Animal {
    private enum CodingKeys: String, CodingKey { case name, own }
    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try super.encode(to: container.superEncoder())
      try super.encode(to: container.superEncoder(forKey: .own))
      try container.encode("Rex", forKey: .name)
    }
  }

  private struct Nested: Encodable {
    private enum CodingKeys: String, CodingKey { case outer, list }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      var outer = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .outer)
      try list.encode(1)
      var inner = list.nestedContainer(keyedBy: CodingKeys.self)
      var numbers = list.nestedUnkeyedContainer()
      try list.encodeNil()
      try Animal().encode(to: list.superEncoder())
      try list.encode(list.count)
      try inner.encode("late", forKey: .list)
      try numbers.encode(contentsOf: [1, 2, 3])
      try outer.encode(true, forKey: .outer)
    }
  }

  private struct Twice: Encodable {
    private enum CodingKeys: String, CodingKey { case name, other }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode("first", forKey: .name)
      try container.encode(1, forKey: .other)
      try container.encode("second", forKey: .name)
    }
  }

  private struct Nothing: Encodable {
    func encode(to encoder: any Encoder) {}
  }

  private struct Everything: Encodable {
    var zoo = [Animal(), Dog()]
    var integers = (Int8.min, Int16.min, Int32.min, Int64.min, Int.max)
    var text = "Zoë 🎈 / \\ \" \n\r\t\u{1} \u{1f} \u{7f}\u{2028}"
    var short = ""
    var bool = true
    var number = 1.5
    var float = Float(0.1)
    var large = 1e300
    var whole = 3.0
    var date = Date(timeIntervalSince1970: 1_790_000_000.123)
    var url = URL(string: "https://example.com/a?b=c")
    var data = Data([0, 1, 254, 255])
    var id = UUID(uuidString: "0198c1de-7f00-7000-8000-000000000001")
    var color = Color.red
    var none: String?
    var emptyList: [String] = []
    var emptyObject: [String: Int] = [:]
    var names = ["b": 1, "a": 2, "ä": 3, "B": 4, "aa": 5]
    var numbered = [3: "c"]
    var byColor: [String: Color] = ["x": .red]
    var lists = [[1, 2], [], [3]]
    var optionals: [Int?] = [1, nil]
    var dates = [Date(timeIntervalSince1970: 0)]
    var nested = Nested()
    var twice = Twice()
    var nothing = Nothing()

    private enum CodingKeys: String, CodingKey {
      case zoo, a, b, c, d, e, text, short, bool, number, float, large, whole, date, url, data, id, color
      case none, emptyList, emptyObject, names, numbered, byColor, lists, optionals, dates, nested, twice, nothing, u,
        v, w, x, y
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(zoo, forKey: .zoo)
      try container.encode(integers.0, forKey: .a)
      try container.encode(integers.1, forKey: .b)
      try container.encode(integers.2, forKey: .c)
      try container.encode(integers.3, forKey: .d)
      try container.encode(integers.4, forKey: .e)
      try container.encode(UInt8.max, forKey: .u)
      try container.encode(UInt16.max, forKey: .v)
      try container.encode(UInt32.max, forKey: .w)
      try container.encode(UInt64.max, forKey: .x)
      try container.encode(UInt.max, forKey: .y)
      try container.encode(text, forKey: .text)
      try container.encode(short, forKey: .short)
      try container.encode(bool, forKey: .bool)
      try container.encode(number, forKey: .number)
      try container.encode(float, forKey: .float)
      try container.encode(large, forKey: .large)
      try container.encode(whole, forKey: .whole)
      try container.encode(date, forKey: .date)
      try container.encode(url, forKey: .url)
      try container.encode(data, forKey: .data)
      try container.encode(id, forKey: .id)
      try container.encode(color, forKey: .color)
      try container.encode(none, forKey: .none)
      try container.encode(emptyList, forKey: .emptyList)
      try container.encode(emptyObject, forKey: .emptyObject)
      try container.encode(names, forKey: .names)
      try container.encode(numbered, forKey: .numbered)
      try container.encode(byColor, forKey: .byColor)
      try container.encode(lists, forKey: .lists)
      try container.encode(optionals, forKey: .optionals)
      try container.encode(dates, forKey: .dates)
      try container.encode(nested, forKey: .nested)
      try container.encode(twice, forKey: .twice)
      try container.encode(nothing, forKey: .nothing)
    }
  }

  /// The values of both, as texts may write the same value differently.
  private func expectSame(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(RFC3339.milliseconds(date))
    }
    let (own, wanted) = (try JSON.encodeExact(value), try encoder.encode(value))
    #expect(String(decoding: own, as: UTF8.self) == String(decoding: wanted, as: UTF8.self))
  }

  @Test func everythingIsWrittenAsFoundationWritesIt() throws {
    try expectSame(Everything())
    try expectSame([Everything(), Everything()])
    try expectSame(Optional<Everything>.none)
    try expectSame([String: Date]())
    try expectSame("text")
    try expectSame(7)
    try expectSame(Date(timeIntervalSince1970: 1.5))
    try expectSame([Date?.none, Date(timeIntervalSince1970: 1.5)])
  }

  @Test func numbersThatJSONDoesNotHaveAreRejectedAndSaidWhere() throws {
    let error = #expect(throws: EncodingError.self) { try JSON.encode(["a": [["b": Double.infinity]]]) }
    guard case .invalidValue(_, let context)? = error else { throw CancellationError() }
    #expect(context.codingPath.map(\.stringValue) == ["a", "Index 0", "b"])
    #expect(throws: EncodingError.self) { try JSON.encode(["a": JSONValue.array([.number(.nan)])]) }
    #expect(throws: EncodingError.self) { try JSON.encode([Float.nan]) }
    #expect(throws: EncodingError.self) { try JSON.encode(Double.infinity) }
  }

  @Test func datesHaveWholeSecondsForApps() throws {
    let text = try JSON.encode(["at": Date(timeIntervalSince1970: 1.7)])
    #expect(String(decoding: text, as: UTF8.self) == #"{"at":"1970-01-01T00:00:01Z"}"#)
  }
}
