import Database
import Foundation
import Wire

/// Writes stored values as JSON, with the same bytes on both engines.
extension ColumnType {
  func write(_ value: Value, to output: inout [UInt8]) {
    switch (self, value) {
    case (_, .null): output += "null".utf8
    case (.boolean, .integer(let number)): output += (number == 0 ? "false" : "true").utf8
    case (.integer, .integer(let number)): output += String(number).utf8
    case (.number, _): Self.writeNumber(value, to: &output)
    case (.json, _): output += (value.text ?? "null").utf8
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
    guard let text = value.text, let number = Double(text), number.isFinite else { return output += "null".utf8 }
    output += (Int64(exactly: number).map(String.init) ?? String(number)).utf8
  }

  private static func writeTime(_ text: String, to output: inout [UInt8]) {
    guard let end = secondsEnd(text) else { return JSONTree.write(time(text), to: &output) }
    output.append(UInt8(ascii: "\""))
    output += text.utf8[..<end]
    output += "Z\"".utf8
  }

  /// In whole seconds, from the formats of both engines.
  private static func time(_ text: String) -> String {
    if let end = secondsEnd(text) { return "\(text[..<end])Z" }
    return TimestampText.stored(text).map(RFC3339.seconds) ?? text
  }

  /// Where the seconds end in `2026-11-22T08:15:30Z`, with or without a fraction, as both engines write a year of four
  /// digits.
  private static func secondsEnd(_ text: String) -> String.Index? {
    let bytes = text.utf8
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z") else { return nil }
    let end = bytes.index(bytes.startIndex, offsetBy: 19)
    // PostgreSQL has no fraction where it is zero.
    return bytes.count == 20 || bytes[end] == UInt8(ascii: ".") ? end : nil
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
