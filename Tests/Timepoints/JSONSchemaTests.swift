import Foundation
import Support
import Testing
import Wire

@testable import Timepoints

@Suite struct JSONSchemaTests {
  private func schema(_ text: String) throws -> JSONSchema {
    try JSONSchema(JSON.decode(JSONValue.self, from: Data(text.utf8)))
  }

  private static let person = """
    {"type": "object", "additionalProperties": false, "required": ["name", "age"], "properties": {
      "name": {"type": "string", "minLength": 1, "maxLength": 5},
      "age": {"type": ["integer", "null"], "minimum": 0, "maximum": 150},
      "mood": {"type": "string", "enum": ["good", "bad"]},
      "tags": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}}}}
    """

  /// Answers and what is wrong with them; empty for nothing.
  private static let answers: [(String, String)] = [
    (#"{"name": "Ann", "age": 3}"#, ""),
    (#"{"name": "Ann", "age": null, "mood": "good", "tags": ["a", "b"]}"#, ""),
    (#"{"name": "Ann"}"#, "age is missing"),
    (#"{"name": "", "age": 3}"#, "name is empty or too short"),
    (#"{"name": "Annabel", "age": 3}"#, "name is longer than 5 characters"),
    (#"{"name": "👨‍👩‍👧‍👦👨‍👩‍👧‍👦", "age": 3}"#, ""),
    (#"{"name": "Ann", "age": 3.5}"#, "age must be integer or null"),
    (#"{"name": "Ann", "age": -1}"#, "age is out of range"),
    (#"{"name": "Ann", "age": 3, "mood": "so"}"#, "mood has a value that is not in the list"),
    (#"{"name": "Ann", "age": 3, "tags": []}"#, "tags needs 1 or more entries"),
    (#"{"name": "Ann", "age": 3, "tags": ["a", "b", "c"]}"#, "tags has more than 2 entries"),
    (#"{"name": "Ann", "age": 3, "tags": ["a", 1]}"#, "tags.1 must be string"),
    (#"{"name": "Ann", "age": 3, "secret": 1}"#, "the answer has members that it should not have"),
    (#"[]"#, "the answer must be object"),
  ]

  @Test(arguments: answers)
  func answersAreChecked(_ text: String, _ mistake: String) throws {
    let value = try JSON.decode(JSONValue.self, from: Data(text.utf8))
    #expect(try schema(Self.person).errors(in: value) == (mistake.isEmpty ? [] : [mistake]))
  }

  @Test func manyMistakesAreCutShort() throws {
    let schema = try schema(#"{"type": "array", "items": {"type": "string"}}"#)
    #expect(schema.errors(in: .array(Array(repeating: 1, count: 100))).count == 5)
  }

  @Test func providersGetTheStructureWithoutBounds() throws {
    let text = String(decoding: try schema(Self.person).structure.data, as: UTF8.self)
    for bound in ["minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"] {
      #expect(!text.contains(bound))
    }
    #expect(text.contains(#""required":["name","age"]"#))
    #expect(text.contains(#""enum":["good","bad"]"#))
  }

  @Test(arguments: [
    #"{"type": "string", "pattern": "a"}"#, #"{"type": "text"}"#, #"{"properties": {}}"#,
    #"{"type": "object", "properties": {}}"#, #"{"type": "array"}"#, "[]",
    #"{"type": "object", "additionalProperties": false, "required": ["x"], "properties": {}}"#,
    #"{"type": "string", "minLength": 5, "maxLength": 1}"#, #"{"type": "number", "minimum": 5, "maximum": 1}"#,
  ])
  func whatWouldNotBeCheckedIsRefused(_ text: String) {
    #expect(throws: JSONSchema.Mistake.self) { _ = try schema(text) }
  }
}
