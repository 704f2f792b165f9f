import Database
import Foundation
import Wire

/// Writes stored values as JSON, with the same bytes on both engines.
extension ColumnType {
  func write(_ value: Value, to output: inout [UInt8]) {
    switch (self, value) {
    case (_, .null): output.append("null")
    case (.boolean, .integer(let number)): output.append(number == 0 ? "false" : "true")
    case (.integer, .integer(let number)): output.append(utf8: String(number))
    case (.number, _): Self.writeNumber(value, to: &output)
    case (.json, _): output.append(utf8: value.text ?? "null")
    case (.textArray, .text(let text)), (.uuidArray, .text(let text)): Self.writeArray(text, to: &output)
    case (.timestamp, .text(let text)): Self.writeTime(text, to: &output)
    default: JSONTree.write(value.text ?? "", to: &output)
    }
  }

  /// The value as a column of type text would hold it; nil for null.
  func plainText(_ value: Value) -> String? {
    guard value != .null else { return nil }
    switch self {
    case .boolean: return value == .integer(0) ? "false" : "true"
    case .timestamp: return value.text.map(Self.time)
    case .number, .textArray, .uuidArray:
      var output: [UInt8] = []
      write(value, to: &output)
      return String(decoding: output, as: UTF8.self)
    default: return value.text
    }
  }

  /// Without the spaces that PostgreSQL writes after commas.
  private static func writeArray(_ text: String, to output: inout [UInt8]) {
    // `try?`: only arrays are stored; anything else is shown as none.
    ((try? JSONReader.tree(of: text)) ?? .null).write(to: &output)
  }

  /// The shortest text that is read as the same number.
  private static func writeNumber(_ value: Value, to output: inout [UInt8]) {
    guard let text = value.text, let number = Double(text), number.isFinite else { return output.append("null") }
    output.append(utf8: Int64(exactly: number).map(String.init) ?? String(number))
  }

  private static func writeTime(_ text: String, to output: inout [UInt8]) {
    guard hasSecondsEnd(text) else { return JSONTree.write(time(text), to: &output) }
    output.append("\"")
    output.append(utf8: text, upTo: secondsEnd)
    output.append("Z\"")
  }

  /// In whole seconds, from the formats of both engines.
  private static func time(_ text: String) -> String {
    if hasSecondsEnd(text) { return "\(String(decoding: text.utf8.prefix(secondsEnd), as: UTF8.self))Z" }
    return TimestampText.stored(text).map(RFC3339.seconds) ?? text
  }

  /// How many bytes `2026-11-22T08:15:30Z` has before its end.
  private static let secondsEnd = 19

  /// Whether it is such a text, with or without a fraction, as both engines write a year of four digits.
  private static func hasSecondsEnd(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      guard bytes.count > secondsEnd, bytes[bytes.count - 1] == UInt8(ascii: "Z") else { return false }
      // PostgreSQL has no fraction where it is zero.
      return bytes.count == secondsEnd + 1 || bytes[secondsEnd] == UInt8(ascii: ".")
    }
  }
}

extension Value {
  /// The text of a value that is not null.
  var text: String? {
    switch self {
    case .null: nil
    case .integer(let number): String(number)
    case .text(let text): text
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }
}
