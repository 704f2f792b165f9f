import Database
import Foundation
import Logging
import Quotas
import ServiceLifecycle
import Web

/// Forgets, every few minutes and a batch at a time, what is over: codes, quotas, sessions, places.
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
          while try await sweep() == Self.atOnce, !Task.isCancelled {}
        } catch { logger.warning("what is over was not swept", metadata: ["error": "\(error)"]) }
        // `try?`: cancelled means that the server stops, which the loop sees.
        try? await Task.sleep(for: .seconds(300))
      }
    }
  }

  private static let atOnce = 500

  private func sweep() async throws -> Int {
    let now = now()
    return try await database.write { [challenges, quotas] db in
      try [
        challenges.sweep, quotas.sweep, SessionStore.sweepTokens, SessionStore.sweep, KnownPlaces.sweep, NewEmail.sweep,
      ]
      .map { sweep in try sweep(now, Self.atOnce, db) }.max() ?? 0
    }
  }
}
