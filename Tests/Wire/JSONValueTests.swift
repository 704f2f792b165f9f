import Foundation
import Testing
import Wire

/// JSON of any shape.
@Suite struct JSONValueTests {
  private struct Body: Codable, Equatable {
    let name: String
    let data: JSONValue?
    let more: [String: JSONValue]
    let list: [JSONValue]
  }

  private func value(_ text: String) throws -> JSONValue { try JSON.decode(JSONValue.self, from: Data(text.utf8)) }

  @Test func everyKindIsWhatItIs() throws {
    #expect(try value("null") == .null)
    #expect(try value("true") == .bool(true) && value("false") == .bool(false))
    #expect(try value("1") == .integer(1) && value("0") == .integer(0) && value("-7") == .integer(-7))
    #expect(try value("1.0") == .integer(1) && value("1.5") == .number(1.5) && value("1e3") == .integer(1000))
    #expect(try value("9223372036854775807") == .integer(.max))
    #expect(try value("9223372036854775808") == .number(9_223_372_036_854_775_808))
    #expect(try value("18446744073709551616") == .number(18_446_744_073_709_551_616))
    #expect(try value(#""Zoë \ud83c\udf88 \"\n""#) == .string("Zoë 🎈 \"\n"))
    #expect(try value(#"[true,{"a":[]},{}]"#) == .array([.bool(true), .object(["a": .array([])]), .object([:])]))
    for text in ["", "{", "1e400", "tru", "\"\\ud800", "{\"a\":1}x"] {
      #expect(throws: DecodingError.self, "\(text)") { try value(text) }
    }
  }

  /// Inside a body, at every position where a value can occur.
  @Test func itIsFoundWhereItStands() throws {
    let text = #"{"name":"a","data":{"b":[1,{"c":true}]},"more":{"x":null,"y":[2]},"list":["s",[3],{"z":4.5}]}"#
    let body = try JSON.decode(Body.self, from: Data(text.utf8))
    let wanted = Body(
      name: "a", data: .object(["b": .array([.integer(1), .object(["c": .bool(true)])])]),
      more: ["x": .null, "y": .array([.integer(2)])],
      list: [.string("s"), .array([.integer(3)]), .object(["z": .number(4.5)])])
    #expect(body == wanted)
    #expect(try JSON.decode([Body].self, from: JSON.encode([wanted, wanted])) == [wanted, wanted])
    let none = try JSON.decode(Body.self, from: Data(#"{"name":"a","data":null,"more":{},"list":[]}"#.utf8))
    #expect(none.data == nil)
  }

  @Test func whatWasWrittenIsReadAgain() throws {
    var random = SystemRandomNumberGenerator()
    func any(_ depth: Int) -> JSONValue {
      switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
      case 0: .null
      case 1: .bool(.random())
      case 2: .integer(.random(in: -5...(.max)))
      case 3: .number(Double(Int.random(in: -1000...1000)) + 0.5)
      case 4: .string(String((0..<Int.random(in: 0...5)).map { _ in "aé🎈\"\\/\u{1}\n".randomElement() ?? "b" }))
      case 5: .array((0..<Int.random(in: 0...4)).map { _ in any(depth - 1) })
      default: .object(Dictionary((0..<Int.random(in: 0...4)).map { ("k\($0)é", any(depth - 1)) }) { $1 })
      }
    }
    for _ in 0..<500 {
      let value = any(5)
      #expect(try JSON.decode(JSONValue.self, from: JSON.encode(value)) == value)
    }
  }

  @Test func numbersKeepEveryDigit() throws {
    #expect(try value("-9223372036854775808") == .integer(.min))
    #expect(try value("-9223372036854775809") == .number(-9_223_372_036_854_775_808))
    var random = SystemRandomNumberGenerator()
    var texts = [
      "0.30000000000000004", "1.7976931348623157e308", "5e-324", "12345678901234567.8e-20",
      "0.1000000000000000055511151",
    ]
    for _ in 0..<2000 {
      texts.append("\(Double.random(in: -180...180, using: &random))")
      let any = Double(bitPattern: random.next())
      // The text of a large integer may have digits that a double does not.
      if any.isFinite, !(1e15...1e19).contains(abs(any)) { texts.append("\(any)") }
    }
    for text in texts {
      let number = try #require(Double(text))
      #expect(try value(text) == Int(exactly: number).map(JSONValue.integer) ?? .number(number), "\(text)")
    }
  }

  /// Each of these once took minutes, and decoding cannot be cancelled.
  @Test(.timeLimit(.minutes(1))) func nestingCostsNothing() throws {
    for (open, close) in [("[", "]"), (#"{"a":["#, "]}")] {
      for leaf in ["{}", "[]", #""""#, "1.5", "null"] {
        let text =
          String(repeating: open, count: 200) + Array(repeating: leaf, count: 15_000).joined(separator: ",")
          + String(repeating: close, count: 200)
        _ = try value(text)
      }
    }
    // Deeper than JSON parsers accept.
    let tooDeep = String(repeating: "[", count: 3000) + String(repeating: "]", count: 3000)
    #expect(throws: DecodingError.self) { try value(tooDeep) }
  }

  /// The encoder of trees of values, and the one of all other values.
  @Test(arguments: [
    JSONValue.null, .bool(true), .integer(.min), .number(0.1), .number(5), .number(1e300), .number(-2.5e-7),
    .string("a\u{0}\u{1}\u{1F}\"\\/\n\r\t\u{8}\u{C}\u{7F}\u{2028} Zoë 🎈"),
    .object(["b": .array([.integer(1), .array([])]), "a": .object([:]), "\"": .null]),
  ])
  func bothEncodersAgree(_ value: JSONValue) throws {
    let text = String(decoding: try JSON.encode(value), as: UTF8.self)
    let generic = try JSON.decode(JSONValue.self, from: JSON.encode([value]))
    #expect(try .array([self.value(text)]) == generic, "\(text)")
  }

  @Test func whatIsNoNumberIsNotWritten() {
    for number in [Double.nan, .infinity, -.infinity] {
      #expect(throws: EncodingError.self) { try JSON.encode(JSONValue.array([.number(number)])) }
    }
  }
}
