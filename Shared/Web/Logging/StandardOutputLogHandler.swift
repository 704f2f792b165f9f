import Foundation
import Logging
import Traces
import Wire

/// A log handler that writes to standard output, in the format that `LOG_FORMAT` names.
package struct StandardOutputLogHandler: LogHandler {
  package var logLevel: Logger.Level
  package var metadata: Logger.Metadata = [:]
  let label: String
  let format: LogFormat
  let queue: LogQueue

  package init(label: String, format: LogFormat, level: Logger.Level, queue: LogQueue = .output) {
    self.label = label
    self.format = format
    self.logLevel = level
    self.queue = queue
  }

  package subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    var metadata = self.metadata.merging(event.metadata ?? [:]) { $1 }
    if let id = Trace.current?.requestID, metadata["request_id"] == nil { metadata["request_id"] = "\(id)" }
    if let id = ActiveSpan.current?.context.traceID, metadata["trace_id"] == nil { metadata["trace_id"] = "\(id)" }
    var line = LogLine(event.level, label, event.message.description, in: format)
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { line.add(key, value) }
    queue.add(line.end())
  }
}

extension StandardOutputLogHandler {
  /// Bootstraps the logging system of this process from `LOG_FORMAT` and `LOG_LEVEL`. Call it once.
  ///
  /// - Parameter process: the label of the lines that report how many lines were dropped.
  package static func bootstrap(_ settings: Settings, process: String) throws {
    guard let format = LogFormat(rawValue: settings.string("LOG_FORMAT", default: "json")) else {
      throw StartFailure("LOG_FORMAT must be json or text")
    }
    guard let level = Logger.Level(rawValue: settings.string("LOG_LEVEL", default: "info")) else {
      throw StartFailure("LOG_LEVEL must be trace, debug, info, notice, warning, error or critical")
    }
    LogQueue.output.reportDrops { count in
      var line = LogLine(.warning, process, "log lines were dropped", in: format)
      line.add("lines", number: count)
      return line.end()
    }
    LoggingSystem.bootstrap { StandardOutputLogHandler(label: $0, format: format, level: level) }
  }
}
