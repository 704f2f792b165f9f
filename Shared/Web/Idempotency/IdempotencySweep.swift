import Logging

/// Deletes idempotency records older than a day, every ten minutes.
package struct IdempotencySweep: PeriodicSweep {
  package let interval = Duration.seconds(600)
  package let logger: Logger
  package let failureMessage: Logger.Message = "idempotency keys not swept"
  private let idempotency: Idempotency

  package init(_ idempotency: Idempotency, logger: Logger) {
    self.idempotency = idempotency
    self.logger = logger
  }

  package func deleteBatch(limit: Int) async throws -> Int { try await idempotency.sweep(limit: limit) }
}
