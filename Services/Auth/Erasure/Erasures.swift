import Clients
import Foundation
import Outbox
import ServiceLifecycle
import Web
import Wire

/// Forgets accounts that were deleted, some time after their users asked for it: here first, then at every other service,
/// until all have done so. Apple hears of it when the user asks, and at the end once more if it was away until then.
struct Erasures: Service {
  private let store: ErasureStore
  private let after: Duration
  private let saga: Saga

  init(
    store: ErasureStore, after: Duration, others: UserDataClients, apple: AppleGrants, in surroundings: Surroundings
  ) {
    self.store = store
    self.after = after
    let now = surroundings.now
    saga = Saga("erasure", ErasureStore.leases, database: store.database, in: surroundings) { row in
      guard let user = UserID(row.key) else { throw Failure.broken }
      let isOver = try await row.step { db in try ErasureStore.begin(user, at: now(), on: db) }
      guard isOver else { return }
      for other in others.present { try await other.erase(user) }
      try await apple.revoke(of: user)
      try await store.database.scrub()
      try await row.step(last: true) { db in try ErasureStore.finish(user, at: now(), on: db) }
    }
  }

  /// Inactive at once, erased later. The sessions that ended with it, or nil when the account is not active.
  func ask(for user: UserID, at now: Date) async throws -> [EndedSession]? {
    let ended = try await store.ask(for: user, erasingAt: now + after, at: now)
    saga.ring()
    store.outbox.ring()
    return ended
  }

  func run() async throws { try await saga.run() }
}
