import Clients
import Foundation
import Outbox
import ServiceLifecycle
import Web
import Wire

/// Erases deleted accounts after a grace period: first here, then in every other service, retried until all have done
/// so. Apple's grants are revoked when the account is deleted, and once more at the end if Apple was not available.
struct AccountErasure: Service {
  private let store: PersonalDataStore
  private let after: Duration
  private let saga: Saga

  init(
    store: PersonalDataStore, after: Duration, otherServices: PersonalDataClients, apple: AppleGrants,
    in dependencies: Dependencies
  ) {
    self.store = store
    self.after = after
    let now = dependencies.now
    saga = Saga("erasure", PersonalDataErasure.leases, database: store.database, in: dependencies) { row in
      guard let user = UserID(row.key) else { throw Failure.broken }
      let isErasable = try await row.step { db in try PersonalDataErasure.begin(user, at: now(), on: db) }
      guard isErasable else { return }
      for other in otherServices.configured { try await other.erase(user) }
      try await apple.revoke(of: user)
      try await store.database.truncateWriteAheadLog()
      try await row.step(last: true) { db in try PersonalDataErasure.finish(user, at: now(), on: db) }
    }
  }

  /// Deactivates an account at once and erases it later. Returns the sessions that ended, or nil when the account is
  /// not active.
  func request(for user: UserID, at now: Date) async throws -> [EndedSession]? {
    let ended = try await store.requestErasure(of: user, dueAt: now + after, at: now)
    saga.wakeUp()
    store.outbox.wakeUp()
    return ended
  }

  func run() async throws { try await saga.run() }
}
