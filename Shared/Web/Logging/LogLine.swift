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
    self.init(Heading(level, label, message, in: format), at: date)
  }

  init(_ heading: Heading, at date: Date = Date()) {
    format = heading.format
    bytes.reserveCapacity(512)
    if format == .json { bytes.append(#"{"time":""#) }
    LogClock.system.write(date, to: &bytes)
    bytes += heading.afterTime
  }

  /// What lines of one kind have in common. All but the time is put together once.
  struct Heading: Sendable {
    fileprivate let format: LogFormat
    fileprivate let afterTime: [UInt8]

    init(_ level: Logger.Level, _ label: String, _ message: String, in format: LogFormat) {
      self.format = format
      var line = LogLine(format)
      switch format {
      case .json:
        line.write("\"")
        line.add("level", level.rawValue)
        line.add("service", label)
        line.add("message", message)
      case .text:
        line.write(" \(level.rawValue) ")
        line.writePlain(label)
        line.write(": ")
        line.writePlain(message)
      }
      afterTime = line.bytes
    }
  }

  private init(_ format: LogFormat) { self.format = format }

  /// Ends the line and returns its bytes, the last of which is a newline.
  mutating func end() -> [UInt8] {
    write(format == .json ? "}\n" : "\n")
    return bytes
  }

  /// - Parameter name: text that every format has as it is.
  mutating func add(_ name: StaticString, _ text: String) {
    writeName(name)
    switch format {
    case .json: writeQuoted(text)
    case .text: writePlain(text)
    }
  }

  mutating func add(_ name: StaticString, number: Int) {
    writeName(name)
    write(String(number))
  }

  /// - Parameter thousandths: of the number, which is not below zero and is written as a `Double` is.
  mutating func add(_ name: StaticString, thousandths: Int) {
    let (whole, rest) = max(0, thousandths).quotientAndRemainder(dividingBy: 1000)
    writeName(name)
    write(String(whole))
    bytes.append(UInt8(ascii: "."))
    bytes.append(UInt8(ascii: "0") + UInt8(rest / 100))
    if rest % 100 > 0 { bytes.append(UInt8(ascii: "0") + UInt8(rest / 10 % 10)) }
    if rest % 10 > 0 { bytes.append(UInt8(ascii: "0") + UInt8(rest % 10)) }
  }

  private mutating func writeName(_ name: StaticString) {
    bytes.append(format == .json ? ",\"" : " ")
    bytes.append(name)
    bytes.append(format == .json ? "\":" : "=")
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
