import Logging
import Synchronization

/// Records log messages for a test.
package final class RecordedLog: Sendable {
  package struct Line: Sendable {
    package let level: Logger.Level
    /// Message and metadata.
    package let text: String
  }

  private let recorded = Mutex<[Line]>([])

  package init() {}

  package var all: [Line] { recorded.withLock { $0 } }
  package var lines: [String] { all.map(\.text) }
  package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  package func count(_ level: Logger.Level) -> Int { recorded.withLock { $0.count { $0.level == level } } }

  private struct Handler: LogHandler {
    let log: RecordedLog
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      log.recorded.withLock { $0.append(Line(level: event.level, text: "\(event.message) \(event.metadata ?? [:])")) }
    }
  }
}
