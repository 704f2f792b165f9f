import Database
import Foundation

/// `::type` of a selected column: the value is written as if its column were of that type.
enum Cast: Sendable, Hashable {
  case text, integer, number, boolean, json

  /// - Throws: ``RestFailure`` for a type that no column is cast to.
  init(_ name: String) throws {
    switch name.lowercased() {
    case "text", "varchar", "character varying", "name", "bpchar", "char": self = .text
    case "int", "int2", "int4", "int8", "integer", "bigint", "smallint": self = .integer
    case "float", "float4", "float8", "real", "double precision", "numeric", "decimal": self = .number
    case "bool", "boolean": self = .boolean
    case "json", "jsonb": self = .json
    default: throw RestFailure(400, "42704", "type \"\(name.prefix(63))\" does not exist")
    }
  }

  /// - Throws: ``RestFailure`` for a value that has no such form.
  func write(_ value: Value, of type: ColumnType, to output: inout [UInt8]) throws {
    guard let text = type.plainText(value) else { return output += "null".utf8 }
    switch self {
    case .text: JSONTree.write(text, to: &output)
    case .integer:
      if type == .boolean { return output += (text == "true" ? "1" : "0").utf8 }
      guard type == .number else {
        return ColumnType.integer.write(try ColumnType.integer.value(ofText: text), to: &output)
      }
      guard let number = Int64(exactly: (try ColumnType.number(text)).rounded(.toNearestOrEven)) else {
        throw RestFailure.outOfRange(text, for: "bigint")
      }
      output += String(number).utf8
    case .number: ColumnType.number.write(try ColumnType.number.value(ofText: text), to: &output)
    case .boolean: ColumnType.boolean.write(try ColumnType.boolean.value(ofText: text), to: &output)
    case .json:
      if type.isJSON || type == .integer || type == .number || type == .boolean {
        type.write(value, to: &output)
      } else {
        ColumnType.json.write(try ColumnType.json.value(ofText: text), to: &output)
      }
    }
  }
}
