import Logging
import Synchronization

/// What was logged.
package final class LogLines: Sendable {
  package struct Line: Sendable {
    package let level: Logger.Level
    package let text: String
  }

  private let lines = Mutex<[Line]>([])

  package init() {}

  package var all: [Line] { lines.withLock { $0 } }

  package var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

  private struct Handler: LogHandler {
    let lines: LogLines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      lines.lines.withLock { $0.append(Line(level: event.level, text: "\(event.message) \(event.metadata ?? [:])")) }
    }
  }
}
