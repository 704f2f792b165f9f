import Database
import Foundation
import Logging
import ServiceLifecycle
import Web
import Wire

/// Ends holds and lots whose time is over. Several replicas may do it at once: a conditional update decides who does.
struct CreditExpiry: Service {
  let database: any Database
  let logger: Logger
  let now: @Sendable () -> Date
  let interval: Duration

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await repeatUntilCancelled(every: interval) {
        do { try await expire() } catch {
          logger.warning("expired credits were not booked", metadata: ["error": "\(error)"])
        }
      }
    }
  }

  /// Ends all that are due. Holds come first, as what they give back may have expired.
  func expire() async throws {
    while try await expireHolds(), !Task.isCancelled {}
    while try await expireLots(), !Task.isCancelled {}
  }

  private func expireHolds() async throws -> Bool {
    let now = now()
    let due = try await database.read { try HoldStore.due(at: now, on: $0) }
    for hold in due {
      do {
        _ = try await database.write { db in try HoldStore.settle(hold, as: .expire, at: now, on: db) }
      } catch is Failure {
        // Another replica has ended it.
      }
    }
    return !due.isEmpty
  }

  private func expireLots() async throws -> Bool {
    let now = now()
    let due = try await database.read { try LotExpiry.dueAccounts(at: now, on: $0) }
    for user in due { _ = try await database.write { db in try LotExpiry.book(of: user, at: now, on: db) } }
    return !due.isEmpty
  }
}
