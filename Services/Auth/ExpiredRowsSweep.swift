import Database
import Foundation
import Logging
import Quotas
import Web

/// Deletes expired challenges, quotas, sessions, known client addresses and pending e-mail changes, every five minutes.
struct ExpiredRowsSweep: PeriodicSweep {
  let interval = Duration.seconds(300)
  let logger: Logger
  let failureMessage: Logger.Message = "what is over was not swept"
  private let database: any Database
  private let challenges: ChallengeStore
  private let quotas: QuotaStore
  private let now: @Sendable () -> Date

  init(database: any Database, challenges: ChallengeStore, quotas: QuotaStore, in dependencies: Dependencies) {
    self.database = database
    self.challenges = challenges
    self.quotas = quotas
    self.logger = dependencies.logger
    self.now = dependencies.now
  }

  func deleteBatch(limit: Int) async throws -> Int {
    let now = now()
    return try await database.write { [challenges, quotas] db in
      try [
        challenges.sweep, quotas.sweep, SessionStore.sweepTokens, SessionStore.sweep, KnownAddresses.sweep,
        PendingEmailChange.sweep,
      ]
      .map { sweep in try sweep(now, limit, db) }.max() ?? 0
    }
  }
}
