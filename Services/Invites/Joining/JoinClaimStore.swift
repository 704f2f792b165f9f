import Database
import Foundation
import Outbox
import Wire

/// SQL on the uses of invites. The conditional update of the row in `invite` decides who may use it; from then on the
/// row in `invite_use` holds what remains to be done and who holds the lease.
struct JoinClaimStore: Sendable {
  let database: any Database

  static let leases = LeaseTable(
    table: "invite_use", selected: "invite_id, user_id", leaseDuration: .seconds(Int64(JoinClaim.leaseSeconds)))

  /// Claims a use of the invite. A user whose earlier request ended without an answer gets the same claim again; a user
  /// who was answered and has left since then gets a new one.
  ///
  /// - Parameters:
  ///   - addressMatches: whether the invite is for no e-mail address, or for the user's.
  ///   - eligibility: what the target's service answered about the user.
  /// - Throws: ``JoinRefusal``; ``ConcurrentClaim`` when another request of the same user claimed first.
  static func claim(
    _ id: InviteID, for user: UserID, addressMatches: Bool, _ eligibility: JoinEligibility = .eligible, at now: Date,
    on db: any Connection
  ) throws -> JoinClaim.Attempt {
    guard let invite = try InviteStore.find(id, on: db) else { throw JoinRefusal.inviteNotFound }
    if let attempt = try reacquire(invite, user, at: now, on: db) { return attempt }
    try invite.requireOpen(to: user, at: now, addressMatches: addressMatches)
    switch eligibility {
    case .unchecked: return .needsEligibility(invite)
    case .refused(let refusal): throw refusal
    case .eligible: break
    }
    guard try incrementUses(id, at: now, on: db) else { return .inProgress }
    let claim = JoinClaim(id: .new(at: now), invite: invite, user: user, lease: UUID().uuidString)
    // The thrown error rolls back the increment.
    guard try insert(claim, at: now, on: db) else { throw ConcurrentClaim() }
    return .acquired(claim)
  }

  /// Inserts the claim, or replaces the user's earlier one that was answered. False when the user has a claim that was
  /// not answered.
  private static func insert(_ claim: JoinClaim, at now: Date, on db: any Connection) throws -> Bool {
    try db.change(
      """
      insert into invite_use (id, invite_id, user_id, state, claimed_at, due_at, lease)
      values (\(claim.id), \(claim.invite.id), \(claim.user), 'claimed', \(now), \(now + JoinClaim.leaseSeconds),
        \(claim.lease))
      on conflict (invite_id, user_id) do update set id = excluded.id, state = excluded.state,
        claimed_at = excluded.claimed_at, answered_at = null, due_at = excluded.due_at, lease = excluded.lease, tries = 0
      where invite_use.answered_at is not null
      """) == 1
  }

  /// Counts one more use and ends the invite with its last one. False when the invite cannot be used any more.
  private static func incrementUses(_ id: InviteID, at now: Date, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update invite set uses_count = uses_count + 1,
        state = case when uses_count + 1 = uses_max then 'accepted' else state end,
        ended_at = case when uses_count + 1 = uses_max then \(now) else ended_at end
      where id = \(id) and state = 'pending' and expires_at > \(now) and (uses_max is null or uses_count < uses_max)
      """) == 1
  }

  /// Takes the lease of the user's unanswered claim. nil when there is none.
  private static func reacquire(
    _ invite: Invite, _ user: UserID, at now: Date, on db: any Connection
  ) throws -> JoinClaim.Attempt? {
    let row = try db.row(
      "select id from invite_use where invite_id = \(invite.id) and user_id = \(user) and answered_at is null")
    guard let row else { return nil }
    let claim = JoinClaim(id: try row.get("id"), invite: invite, user: user, lease: UUID().uuidString)
    let taken = try db.change(
      """
      update invite_use set due_at = \(now + JoinClaim.leaseSeconds), lease = \(claim.lease)
      where id = \(claim.id) and answered_at is null and (due_at is null or due_at <= \(now) or lease is null)
      """)
    return taken == 1 ? .acquired(claim) : .inProgress
  }

  /// Marks the claim as joined and answered, in the transaction that stores the response.
  ///
  /// - Throws: ``LeaseLost``.
  static func finish(_ claim: JoinClaim, at now: Date, on db: any Connection) throws {
    let finished = try db.change(
      """
      update invite_use set state = 'joined', answered_at = \(now), due_at = null, lease = null
      where id = \(claim.id) and lease = \(claim.lease)
      """)
    guard finished == 1 else { throw LeaseLost() }
    InviteEvents.accepted(claim.invite, by: claim.user, with: claim.id, at: now, on: db)
  }

  /// Deletes the claim and makes the use available to others.
  ///
  /// - Throws: ``LeaseLost``.
  static func revert(_ claim: JoinClaim, because refusal: JoinRefusal, at now: Date, on db: any Connection) throws {
    let deleted = try db.change("delete from invite_use where id = \(claim.id) and lease = \(claim.lease)")
    guard deleted == 1 else { throw LeaseLost() }
    try releaseUse(of: claim.invite.id, because: refusal, at: now, on: db)
  }

  /// Marks a claim as joined, in the worker's last step, which holds the lease.
  static func markJoined(_ id: ClaimID, on db: any Connection) throws {
    try db.change("update invite_use set state = 'joined' where id = \(id)")
  }

  /// Deletes a claim, in the worker's last step, which holds the lease. The use becomes available to others by
  /// ``releaseUse(of:because:at:on:)``.
  static func delete(_ id: ClaimID, on db: any Connection) throws {
    try db.change("delete from invite_use where id = \(id)")
  }

  /// Counts one use less and reopens an invite that was used up, unless its inviter was erased. Revokes the invite when
  /// nobody can join by it any more.
  static func releaseUse(
    of id: InviteID, because refusal: JoinRefusal, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      update invite set uses_count = uses_count - 1,
        state = case when state = 'accepted' and inviter_id is not null then 'pending' else state end,
        ended_at = case when state = 'accepted' and inviter_id is not null then null else ended_at end
      where id = \(id)
      """)
    if [.targetNotFound, .inviterLacksPermission].contains(refusal) {
      _ = try InviteStore.end(id, as: .revoked, at: now, on: db)
    }
  }

  /// Releases the lease, so that the worker can take the claim at once.
  static func releaseLease(of claim: JoinClaim, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      update invite_use set due_at = \(now), lease = null
      where id = \(claim.id) and lease = \(claim.lease) and due_at is not null
      """)
  }
}

/// Two requests of one user inserted a claim at the same time; the second one starts again.
struct ConcurrentClaim: Error {}
