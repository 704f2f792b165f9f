import Logging
import Synchronization

/// What was logged, for a test to look at.
package final class RecordedLog: Sendable {
  private let recorded = Mutex<[(level: Logger.Level, text: String)]>([])

  package init() {}

  package var lines: [String] { recorded.withLock { $0.map(\.text) } }
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
      log.recorded.withLock { $0.append((event.level, "\(event.message) \(event.metadata ?? [:])")) }
    }
  }
}
