import Foundation
import Logging
import Traces
import Wire

/// A log handler that writes to standard output: one JSON object per line, or plain text (`LOG_FORMAT`).
package struct StandardOutputLogHandler: LogHandler {
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
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    LogQueue.output.add(line(event.level, "\(event.message)", all)) { dropped in
      line(.warning, "log lines were dropped", ["lines": .stringConvertible(dropped)])
    }
  }

  private func line(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
    switch format {
    case .json: json(level, message, metadata)
    case .text: text(level, message, metadata)
    }
  }

  private func json(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
    var line = #"{"time":"\#(RFC3339.milliseconds(Date()))","level":"\#(level.rawValue)","service":"#
    line += quoted(label) + #","message":"# + quoted(message)
    if let id = Trace.current?.requestID, metadata["request_id"] == nil { line += #","request_id":"# + quoted(id) }
    if let id = ActiveSpan.current?.context.traceID, metadata["trace_id"] == nil {
      line += #","trace_id":"# + quoted(id)
    }
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

  private func text(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
    let details = metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    return "\(RFC3339.milliseconds(Date())) \(level) \(label): \(message) \(details)\n"
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

extension StandardOutputLogHandler {
  /// Bootstraps the logging system of this process from `LOG_FORMAT` and `LOG_LEVEL`. Call it once.
  package static func bootstrap(_ settings: Settings) throws {
    guard let format = Format(rawValue: settings.string("LOG_FORMAT", default: "json")) else {
      throw StartFailure("LOG_FORMAT must be json or text")
    }
    guard let level = Logger.Level(rawValue: settings.string("LOG_LEVEL", default: "info")) else {
      throw StartFailure("LOG_LEVEL must be trace, debug, info, notice, warning, error or critical")
    }
    LoggingSystem.bootstrap { StandardOutputLogHandler(label: $0, format: format, level: level) }
  }
}
