import Foundation
import Logging
import Synchronization
import Wire

/// Log lines to standard output: one JSON object a line, or plain text for a person (`LOG_FORMAT`).
package struct LogLines: LogHandler {
  package enum Format: String, Sendable { case json, text }

  package var logLevel: Logger.Level
  package var metadata: Logger.Metadata = [:]
  private let label: String
  private let format: Format

  package init(label: String, format: Format, level: Logger.Level) {
    self.label = label
    self.format = format
    self.logLevel = level
  }

  package subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    let merged = metadata.merging(event.metadata ?? [:]) { $1 }
    switch format {
    case .json: Output.write(json(event, merged))
    case .text: Output.write(text(event, merged))
    }
  }

  private func json(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
    var line = #"{"time":"\#(Instant.milliseconds(Date()))","level":"\#(event.level.rawValue)","service":"#
    line += quoted(label) + #","message":"# + quoted("\(event.message)")
    if let id = Trace.current?.requestID, metadata["request_id"] == nil { line += #","request_id":"# + quoted(id) }
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { line += "," + quoted(key) + ":" + json(value) }
    return line + "}\n"
  }

  private func json(_ value: Logger.MetadataValue) -> String {
    switch value {
    case .string(let text): quoted(text)
    case .stringConvertible(let number as any BinaryInteger): "\(number)"
    case .stringConvertible(let number as Double) where number.isFinite: "\(number)"
    case .stringConvertible(let flag as Bool): "\(flag)"
    case .stringConvertible(let other): quoted("\(other)")
    case .array(let values): "[" + values.map(json).joined(separator: ",") + "]"
    case .dictionary(let members):
      "{" + members.map { quoted($0.key) + ":" + json($0.value) }.joined(separator: ",") + "}"
    }
  }

  private func text(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
    let details = metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    return "\(Instant.milliseconds(Date())) \(event.level) \(label): \(event.message) \(details)\n"
      .replacingOccurrences(of: "\u{1B}", with: "")
  }

  private func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: out += " "
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }
}

/// Whole lines only, whichever threads write.
private enum Output {
  private static let lock = Mutex(())

  static func write(_ line: String) {
    lock.withLock { _ in
      // `try?`: when nobody reads our output any more there is nowhere left to say so.
      try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
    }
  }
}

extension LogLines {
  /// Sets logging up for this process, from `LOG_FORMAT` and `LOG_LEVEL`. Call it once.
  package static func bootstrap(_ settings: Settings) throws {
    guard let format = Format(rawValue: settings.string("LOG_FORMAT", default: "json")) else {
      throw StartFailure("LOG_FORMAT must be json or text")
    }
    guard let level = Logger.Level(rawValue: settings.string("LOG_LEVEL", default: "info")) else {
      throw StartFailure("LOG_LEVEL must be trace, debug, info, notice, warning, error or critical")
    }
    LoggingSystem.bootstrap { LogLines(label: $0, format: format, level: level) }
  }
}
