import Database
import Foundation
import Logging
import Quotas
import ServiceLifecycle
import Web

/// Forgets, every ten minutes and a batch at a time, what was counted longer than a day ago.
struct QuotaSweep: Service {
  let database: any Database
  let quotas: QuotaStore
  let logger: Logger
  let now: @Sendable () -> Date

  private static let batch = 500

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do {
          while try await sweep() == Self.batch, !Task.isCancelled {}
        } catch { logger.warning("quotas not swept", metadata: ["error": "\(error)"]) }
        // `try?`: cancelled means that the server stops, which the loop sees.
        try? await Task.sleep(for: .seconds(600))
      }
    }
  }

  /// Says how many.
  func sweep() async throws -> Int {
    let now = now()
    return try await database.write { [quotas] db in try quotas.sweep(at: now, limit: Self.batch, on: db) }
  }
}
