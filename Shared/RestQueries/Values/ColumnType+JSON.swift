import Database
import Foundation
import Wire

/// Writes stored values as JSON, with the same bytes on both engines.
extension ColumnType {
  func write(_ value: Value, to output: inout [UInt8]) { value.borrowed { write($0, to: &output) } }

  func write(_ value: BorrowedValue, to output: inout [UInt8]) {
    switch (self, value) {
    case (_, .null): output.append("null")
    case (.boolean, .integer(let number)): output.append(number == 0 ? "false" : "true")
    case (.integer, .integer(let number)), (.json, .integer(let number)): output.append(utf8: String(number))
    case (.number, .integer(let number)): Self.writeNumber(String(number), to: &output)
    case (.number, .text(let text)): Self.writeNumber(String(decoding: text, as: UTF8.self), to: &output)
    case (.json, .text(let text)), (.json, .bytes(let text)): output.append(contentsOf: text)
    case (.textArray, .text(let text)), (.uuidArray, .text(let text)): Self.writeArray(text, to: &output)
    case (.timestamp, .text(let text)): Self.writeTime(text, to: &output)
    case (_, .text(let text)), (_, .bytes(let text)): JSONTree.write(text, to: &output)
    case (_, .integer(let number)): JSONTree.write(String(number), to: &output)
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
  private static func writeArray(_ text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    // `try?`: only arrays are stored; anything else is shown as none.
    ((try? JSONReader.tree(of: Array(text))) ?? .null).write(to: &output)
  }

  /// The shortest text that is read as the same number.
  private static func writeNumber(_ text: String, to output: inout [UInt8]) {
    guard let number = Double(text), number.isFinite else { return output.append("null") }
    output.append(utf8: Int64(exactly: number).map(String.init) ?? String(number))
  }

  private static func writeTime(_ text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    guard hasSecondsEnd(text) else {
      return JSONTree.write(time(String(decoding: text, as: UTF8.self)), to: &output)
    }
    output.append("\"")
    output.append(contentsOf: text.prefix(secondsEnd))
    output.append("Z\"")
  }

  /// In whole seconds, from the formats of both engines.
  private static func time(_ text: String) -> String {
    var text = text
    if text.withUTF8(hasSecondsEnd) { return "\(String(decoding: text.utf8.prefix(secondsEnd), as: UTF8.self))Z" }
    return TimestampText.stored(text).map(RFC3339.seconds) ?? text
  }

  /// How many bytes `2026-11-22T08:15:30Z` has before its end.
  private static let secondsEnd = 19

  /// Whether it is such a text, with or without a fraction, as both engines write a year of four digits.
  private static func hasSecondsEnd(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text.count > secondsEnd, text[text.count - 1] == UInt8(ascii: "Z") else { return false }
    // PostgreSQL has no fraction where it is zero.
    return text.count == secondsEnd + 1 || text[secondsEnd] == UInt8(ascii: ".")
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
