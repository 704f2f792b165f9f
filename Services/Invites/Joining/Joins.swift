import Database
import Foundation
import Outbox
import ServiceLifecycle
import Web
import Wire

/// Sees people to where an invite leads: claimed here, joined there, finished here. What a crash or an outage leaves
/// between two of these steps is finished, or undone, by a worker.
struct Joins: Service {
  private let database: any Database
  private let destinations: Destinations
  private let saga: Saga
  private let now: @Sendable () -> Date

  init(database: any Database, destinations: Destinations, in surroundings: Surroundings) {
    self.database = database
    self.destinations = destinations
    let now = surroundings.now
    self.now = now
    saga = Saga("invite", ClaimStore.leases, database: database, in: surroundings) { row in
      try await Self.complete(row, destinations, now)
    }
  }

  func run() async throws { try await saga.run() }

  /// Claims a place and sees the user to it; ``finish(_:on:)`` ends it.
  ///
  /// - Parameters:
  ///   - isAddressed: whether the invite is for nobody's address, or for the user's.
  ///   - find: finds the invite, in the transaction that claims.
  /// - Throws: ``JoinRefusal``; what stands in the way, and then the worker goes on.
  func begin(
    for user: UserID, isAddressed: Bool = true, finding find: @escaping @Sendable (any Connection) throws -> InviteID?
  ) async throws -> (claim: Claim, arrival: Arrival) {
    let claim = try await claimed(by: user) { [now] welcome, db in
      guard let id = try find(db) else { return .nothing }
      return try ClaimStore.claim(id, for: user, isAddressed: isAddressed, welcome, at: now(), on: db)
    }
    do {
      let arrival = try await destinations.join(claim.user, by: claim.invite, claim.id)
      guard let refusal = arrival.refusal(of: claim.invite) else { return (claim, arrival) }
      throw refusal
    } catch let refusal as JoinRefusal {
      try await undo(claim, because: refusal)
      throw refusal
    } catch {
      try await letGo(claim)
      throw error
    }
  }

  /// The last step, in the transaction that keeps the answer.
  func finish(_ claim: Claim, on db: any Connection) throws {
    do { try ClaimStore.finish(claim, at: now(), on: db) } catch is LeaseLost { throw Failure.unavailable }
  }

  private func undo(_ claim: Claim, because refusal: JoinRefusal) async throws {
    let now = now()
    do {
      try await database.write { db in try ClaimStore.undo(claim, because: refusal, at: now, on: db) }
    } catch is LeaseLost { throw Failure.unavailable }
  }

  /// Two requests of one user's may be at it: the second waits for what becomes of the first, about six seconds. That is
  /// less than whoever asks waits for us.
  private func claimed(
    by user: UserID, _ claim: @escaping @Sendable (Welcome, any Connection) throws -> Claim.Attempt
  ) async throws -> Claim {
    var welcome = Welcome.unasked
    for attempt in 0..<40 {
      do {
        let asked = welcome
        switch try await database.write({ db in try claim(asked, db) }) {
        case .mine(let claim): return claim
        case .nothing: throw JoinRefusal.unknown
        case .unasked(let invite):
          // Then everything is looked at again: what was said may be about what became of another request.
          welcome = try await destinations.welcome(user, by: invite)
          continue
        case .busy: break
        }
      } catch is ClaimedTwice {}
      welcome = .unasked
      try await Task.sleep(for: .milliseconds(min(20 + attempt * 10, 200)))
    }
    throw Failure.unavailable
  }

  /// Also when whoever waited for the answer has gone: the worker should not have to wait for the lease.
  private func letGo(_ claim: Claim) async throws {
    let now = now()
    try await Task { [database] in
      try await database.write { db in try ClaimStore.letGo(claim, at: now, on: db) }
    }.value
    saga.ring()
  }

  /// What the worker does with a claim that nobody is at.
  private static func complete(
    _ row: SagaRow, _ destinations: Destinations, _ now: @escaping @Sendable () -> Date
  ) async throws {
    let (id, user): (InviteID, UserID) = (try row.row.get("invite_id"), try row.row.get("user_id"))
    guard let claim = ClaimID(row.key), let invite = try await row.step({ db in try InviteStore.find(id, on: db) })
    else { throw Failure.broken }
    var refusal: JoinRefusal?
    do {
      refusal = try await destinations.join(user, by: invite, claim).refusal(of: invite)
    } catch let gone as JoinRefusal { refusal = gone }
    try await row.step(last: true) { [refusal] db in
      guard let refusal else {
        try db.change("update invite_use set state = 'joined' where id = \(row.key)")
        return
      }
      try db.change("delete from invite_use where id = \(row.key)")
      try ClaimStore.putBack(id, because: refusal, at: now(), on: db)
    }
  }
}
