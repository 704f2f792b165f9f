import Logging

extension Logger {
  /// This logger at the level `warning` or a higher one, for Hummingbird and ServiceLifecycle, which log every start
  /// and stop of a service.
  package var warningsOnly: Logger {
    var logger = self
    logger.logLevel = max(logLevel, .warning)
    return logger
  }
}
