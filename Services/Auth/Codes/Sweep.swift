import Database
import Foundation
import Logging
import Quotas
import ServiceLifecycle
import Web

/// Forgets, every few minutes and a batch at a time, codes that have expired and quotas that are over.
struct Sweep: Service {
  private let database: any Database
  private let challenges: ChallengeStore
  private let quotas: QuotaStore
  private let logger: Logger
  private let now: @Sendable () -> Date

  init(database: any Database, challenges: ChallengeStore, quotas: QuotaStore, in surroundings: Surroundings) {
    self.database = database
    self.challenges = challenges
    self.quotas = quotas
    self.logger = surroundings.logger
    self.now = surroundings.now
  }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        do {
          while try await sweep() == 500, !Task.isCancelled {}
        } catch { logger.warning("codes not swept", metadata: ["error": "\(error)"]) }
        // `try?`: cancelled means that the server stops, which the loop sees.
        try? await Task.sleep(for: .seconds(300))
      }
    }
  }

  private func sweep() async throws -> Int {
    let now = now()
    return try await database.write { [challenges, quotas] db in
      max(try challenges.sweep(at: now, limit: 500, on: db), try quotas.sweep(at: now, limit: 500, on: db))
    }
  }
}
