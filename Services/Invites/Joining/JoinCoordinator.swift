import Database
import Foundation
import Outbox
import ServiceLifecycle
import Web
import Wire

/// Lets users join by invites in three steps: claim a use here, join at the service that owns the target, finish the
/// claim here. A worker finishes or reverts what a crash or an outage interrupted between two steps.
struct JoinCoordinator: Service {
  private let database: any Database
  private let joinTargetClient: JoinTargetClient
  private let saga: Saga
  private let now: @Sendable () -> Date

  init(database: any Database, joinTargetClient: JoinTargetClient, in dependencies: Dependencies) {
    self.database = database
    self.joinTargetClient = joinTargetClient
    let now = dependencies.now
    self.now = now
    saga = Saga("invite", JoinClaimStore.leases, database: database, in: dependencies) { row in
      try await Self.complete(row, joinTargetClient, now)
    }
  }

  func run() async throws { try await saga.run() }

  /// Claims a use of an invite and joins the target; ``finish(_:on:)`` ends the claim.
  ///
  /// - Parameters:
  ///   - addressMatches: whether the invite is for no e-mail address, or for the user's.
  ///   - find: finds the invite, in the transaction that claims.
  /// - Throws: ``JoinRefusal``; any other error, after which the worker completes the claim.
  func start(
    for user: UserID, addressMatches: Bool = true,
    finding find: @escaping @Sendable (any Connection) throws -> InviteID?
  ) async throws -> (claim: JoinClaim, result: JoinResult) {
    let claim = try await acquireClaim(for: user) { [now] eligibility, db in
      guard let id = try find(db) else { return .notFound }
      return try JoinClaimStore.claim(id, for: user, addressMatches: addressMatches, eligibility, at: now(), on: db)
    }
    do {
      let result = try await joinTargetClient.join(claim.user, by: claim.invite, claim.id)
      guard let refusal = result.refusal(of: claim.invite) else { return (claim, result) }
      throw refusal
    } catch let refusal as JoinRefusal {
      try await revert(claim, because: refusal)
      throw refusal
    } catch {
      try await releaseLease(of: claim)
      throw error
    }
  }

  /// The last step, in the transaction that stores the response.
  ///
  /// - Throws: 503 when the lease was lost.
  func finish(_ claim: JoinClaim, on db: any Connection) throws {
    do { try JoinClaimStore.finish(claim, at: now(), on: db) } catch is LeaseLost { throw Failure.unavailable }
  }

  private func revert(_ claim: JoinClaim, because refusal: JoinRefusal) async throws {
    let now = now()
    do {
      try await database.write { db in try JoinClaimStore.revert(claim, because: refusal, at: now, on: db) }
    } catch is LeaseLost { throw Failure.unavailable }
  }

  /// Claims a use. Waits for another request of the same user, for about six seconds: less than callers wait for this
  /// service's answer.
  ///
  /// - Throws: ``JoinRefusal``; 503 when the other request takes longer.
  private func acquireClaim(
    for user: UserID, _ claim: @escaping @Sendable (JoinEligibility, any Connection) throws -> JoinClaim.Attempt
  ) async throws -> JoinClaim {
    var eligibility = JoinEligibility.unchecked
    for attempt in 0..<40 {
      do {
        let checked = eligibility
        switch try await database.write({ db in try claim(checked, db) }) {
        case .acquired(let claim): return claim
        case .notFound: throw JoinRefusal.inviteNotFound
        case .needsEligibility(let invite):
          // The transaction runs again: another request may have changed the invite in the meantime.
          eligibility = try await joinTargetClient.eligibility(of: user, for: invite)
          continue
        case .inProgress: break
        }
      } catch is ConcurrentClaim {}
      eligibility = .unchecked
      try await Task.sleep(for: .milliseconds(min(20 + attempt * 10, 200)))
    }
    throw Failure.unavailable
  }

  /// In a task of its own, which runs also when the request was cancelled: the worker then does not have to wait until
  /// the lease expires.
  private func releaseLease(of claim: JoinClaim) async throws {
    let now = now()
    try await Task { [database] in
      try await database.write { db in try JoinClaimStore.releaseLease(of: claim, at: now, on: db) }
    }.value
    saga.wakeUp()
  }

  /// Completes a claim in the worker: joins the target again, then marks the claim as joined or reverts it.
  private static func complete(
    _ row: SagaRow, _ joinTargetClient: JoinTargetClient, _ now: @escaping @Sendable () -> Date
  ) async throws {
    let (id, user): (InviteID, UserID) = (try row.row.get("invite_id"), try row.row.get("user_id"))
    guard let claim = ClaimID(row.key), let invite = try await row.step({ db in try InviteStore.find(id, on: db) })
    else { throw Failure.broken }
    var refusal: JoinRefusal?
    do {
      refusal = try await joinTargetClient.join(user, by: invite, claim).refusal(of: invite)
    } catch let thrown as JoinRefusal { refusal = thrown }
    try await row.step(last: true) { [refusal] db in
      guard let refusal else {
        try JoinClaimStore.markJoined(claim, on: db)
        InviteEvents.accepted(invite, by: user, with: claim, at: now(), on: db)
        return
      }
      try JoinClaimStore.delete(claim, on: db)
      try JoinClaimStore.releaseUse(of: id, because: refusal, at: now(), on: db)
    }
  }
}
