import Foundation
import Logging
import Prometheus

/// The dependencies of a service: settings, clock, logger, metrics, and the addresses of the other services.
package struct Dependencies: Sendable {
  package let settings: Settings
  package let serviceAddresses: ServiceAddresses
  package let logger: Logger
  /// The metrics of this service.
  package let registry: MetricsRegistry
  package let now: @Sendable () -> Date

  package init(
    _ settings: Settings, serviceAddresses: ServiceAddresses? = nil, logger: Logger,
    registry: MetricsRegistry = MetricsRegistry(), now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.settings = settings
    self.serviceAddresses = serviceAddresses ?? ServiceAddresses(settings)
    self.logger = logger
    self.registry = registry
    self.now = now
  }

  /// A copy with other settings, and with a metrics registry of its own.
  package func with(_ settings: Settings, logger: Logger? = nil) -> Dependencies {
    Dependencies(settings, serviceAddresses: serviceAddresses, logger: logger ?? self.logger, now: now)
  }
}
