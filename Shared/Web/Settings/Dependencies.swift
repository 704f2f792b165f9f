import Database
import Foundation
import Logging
import Prometheus
import Tokens

/// The dependencies of a service: settings, clock, logger, metrics, and the addresses of the other services.
package struct Dependencies: Sendable {
  package let settings: Settings
  package let serviceAddresses: ServiceAddresses
  package let logger: Logger
  /// The metrics of this service.
  package let registry: MetricsRegistry
  package let now: @Sendable () -> Date
  /// Where auth runs in the same process, the list that it keeps of ended sessions. Else nil.
  package let endedSessions: EndedSessionList?
  /// After this time background jobs look for work of which no signal has told them: rows that another replica has left
  /// behind. Tests that move the clock set it lower.
  package let pollInterval: Duration
  /// Sent after each transaction that this process has committed on the service's database.
  package let writes = ChangeSignal()
  /// Wraps the database of a service; tests observe its statements.
  let wrapDatabase: @Sendable (any Database) -> any Database

  package init(
    _ settings: Settings, serviceAddresses: ServiceAddresses? = nil, logger: Logger,
    registry: MetricsRegistry = MetricsRegistry(), endedSessions: EndedSessionList? = nil,
    pollInterval: Duration = .seconds(60), now: @escaping @Sendable () -> Date = { Date() },
    wrapDatabase: @escaping @Sendable (any Database) -> any Database = { $0 }
  ) {
    self.settings = settings
    self.serviceAddresses = serviceAddresses ?? ServiceAddresses(settings)
    self.logger = logger
    self.registry = registry
    self.endedSessions = endedSessions
    self.pollInterval = pollInterval
    self.now = now
    self.wrapDatabase = wrapDatabase
  }

  /// A copy with other settings, and with a metrics registry of its own.
  package func with(_ settings: Settings, logger: Logger? = nil) -> Dependencies {
    Dependencies(
      settings, serviceAddresses: serviceAddresses, logger: logger ?? self.logger, endedSessions: endedSessions,
      pollInterval: pollInterval, now: now, wrapDatabase: wrapDatabase)
  }
}
