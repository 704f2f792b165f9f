import Database
import Wire

/// `::type` of a selected column: the value is written as if its column were of that type.
struct Cast: Sendable, Hashable {
  static let integer = Cast(type: .integer)

  private let type: ColumnType

  /// - Throws: ``RestFailure`` for a type that no column is cast to.
  init(_ name: String) throws {
    switch name.lowercased() {
    case "text", "varchar", "character varying", "name", "bpchar", "char": type = .text
    case "int", "int2", "int4", "int8", "integer", "bigint", "smallint": type = .integer
    case "float", "float4", "float8", "real", "double precision", "numeric", "decimal": type = .number
    case "bool", "boolean": type = .boolean
    case "json", "jsonb": type = .json
    case "uuid": type = .uuid
    case "date": type = .date
    case "timestamp", "timestamptz", "timestamp with time zone", "timestamp without time zone": type = .timestamp
    default: throw RestFailure(400, "42704", "type \"\(name.prefix(63))\" does not exist")
    }
  }

  private init(type: ColumnType) { self.type = type }

  /// - Throws: ``RestFailure`` for a value that has no such form.
  func write(_ value: Value, of source: ColumnType, to output: inout [UInt8]) throws {
    guard let text = source.plainText(value) else { return output += "null".utf8 }
    switch (source, type) {
    case (.boolean, .integer): output += (text == "true" ? "1" : "0").utf8
    case (.number, .integer): output += String(try Self.rounded(text)).utf8
    case (.timestamp, .date): JSONTree.write(String(text.prefix(10)), to: &output)
    // They are JSON as they are.
    case (.integer, .json), (.number, .json), (.boolean, .json), (.textArray, .json), (.uuidArray, .json):
      output += text.utf8
    default: type.write(try type.value(ofText: text), to: &output)
    }
  }

  private static func rounded(_ text: String) throws -> Int64 {
    guard let number = Int64(exactly: try ColumnType.number(text).rounded(.toNearestOrEven)) else {
      throw RestFailure.outOfRange(text, for: "bigint")
    }
    return number
  }
}
