import Logging
import ServiceLifecycle

/// Deletes, every ten minutes and a batch at a time, the keys that are older than a day.
package struct IdempotencySweep: Service {
  private let idempotency: Idempotency
  private let logger: Logger

  package init(_ idempotency: Idempotency, logger: Logger) {
    self.idempotency = idempotency
    self.logger = logger
  }

  package func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do {
          while try await idempotency.sweep(limit: 500) == 500, !Task.isCancelled {}
        } catch { logger.warning("idempotency keys not swept", metadata: ["error": "\(error)"]) }
        // `try?`: cancelled means that the server stops, which the loop sees.
        try? await Task.sleep(for: .seconds(600))
      }
    }
  }
}
