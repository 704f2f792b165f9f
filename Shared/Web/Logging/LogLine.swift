import Foundation
import Logging
import Wire

/// How lines are written (`LOG_FORMAT`): one JSON object per line, or plain text.
package enum LogFormat: String, Sendable { case json, text }

/// The bytes of one line of the log. They are put together in the order in which they are written.
struct LogLine {
  let format: LogFormat
  private var bytes: [UInt8] = []

  init(_ level: Logger.Level, _ label: String, _ message: String, in format: LogFormat, at date: Date = Date()) {
    self.format = format
    bytes.reserveCapacity(256)
    switch format {
    case .json:
      write(#"{"time":""#)
      LogClock.system.write(date, to: &bytes)
      write("\"")
      add("level", level.rawValue)
      add("service", label)
      add("message", message)
    case .text:
      LogClock.system.write(date, to: &bytes)
      write(" ")
      write(level.rawValue)
      write(" ")
      writePlain(label)
      write(": ")
      writePlain(message)
    }
  }

  /// Ends the line and returns its bytes, the last of which is a newline.
  mutating func end() -> [UInt8] {
    write(format == .json ? "}\n" : "\n")
    return bytes
  }

  mutating func add(_ name: String, _ text: String) {
    writeName(name)
    switch format {
    case .json: writeQuoted(text)
    case .text: writePlain(text)
    }
  }

  mutating func add(_ name: String, number: some CustomStringConvertible) {
    writeName(name)
    write(number.description)
  }

  mutating func writeName(_ name: String) {
    switch format {
    case .json:
      write(",")
      writeQuoted(name)
      write(":")
    case .text:
      write(" ")
      writePlain(name)
      write("=")
    }
  }

  /// Writes text that needs no escaping.
  mutating func write(_ text: String) { bytes.append(utf8: text) }

  /// Writes a JSON string. Other control characters than newlines become spaces.
  mutating func writeQuoted(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    defer { bytes.append(UInt8(ascii: "\"")) }
    // Most texts are plain, and are copied whole.
    guard !bytes.append(ifPlain: text) else { return }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case UInt8(ascii: "\n"): write("\\n")
      case 0..<0x20, 0x7F: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
  }

  /// Writes text without ESC, with which commands to terminals begin.
  mutating func writePlain(_ text: String) {
    for byte in text.utf8 where byte != 0x1B { bytes.append(byte) }
  }
}
