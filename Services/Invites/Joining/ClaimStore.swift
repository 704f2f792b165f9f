import Database
import Foundation
import Outbox
import Wire

/// Every statement on who comes in by an invite. The conditional update of the invite's row decides who does; from then
/// on the claim's row says what is still to be done, and whose work that is.
struct ClaimStore: Sendable {
  let database: any Database

  static let leases = Leases(
    table: "invite_use", selected: "invite_id, user_id", lasting: .seconds(Int64(Claim.leaseSeconds)))

  /// Takes up the invite. Whoever was cut off before they were answered takes up their own claim again.
  ///
  /// - Parameter isAddressed: whether the invite is for nobody's address, or for the user's.
  /// - Throws: ``JoinRefusal``.
  static func claim(
    _ id: InviteID, for user: UserID, isAddressed: Bool, at now: Date, on db: any Connection
  ) throws -> Claim.Attempt {
    guard let invite = try InviteStore.find(id, on: db) else { throw JoinRefusal.unknown }
    if let earlier = try again(invite, user, at: now, on: db) { return earlier }
    try invite.requireOpen(to: user, at: now, isAddressed: isAddressed)
    guard try takeUp(id, at: now, on: db) else { return .busy }
    let claim = Claim(id: .new(at: now), invite: invite, user: user, lease: UUID().uuidString)
    let noted = try db.change(
      """
      insert into invite_use (id, invite_id, user_id, state, claimed_at, due_at, lease)
      values (\(claim.id), \(id), \(user), 'claimed', \(now), \(now + Claim.leaseSeconds), \(claim.lease))
      on conflict (invite_id, user_id) do nothing
      """)
    // The same user's other request was first: what this one took up is given back.
    guard noted == 1 else { throw ClaimedTwice() }
    return .mine(claim)
  }

  private static func takeUp(_ id: InviteID, at now: Date, on db: any Connection) throws -> Bool {
    try db.change(
      """
      update invite set uses_count = uses_count + 1,
        state = case when uses_count + 1 = uses_max then 'accepted' else state end,
        ended_at = case when uses_count + 1 = uses_max then \(now) else ended_at end
      where id = \(id) and state = 'pending' and expires_at > \(now) and (uses_max is null or uses_count < uses_max)
      """) == 1
  }

  /// nil when the user has not come this way before.
  private static func again(
    _ invite: Invite, _ user: UserID, at now: Date, on db: any Connection
  ) throws -> Claim.Attempt? {
    let row = try db.row(
      "select id, answered_at from invite_use where invite_id = \(invite.id) and user_id = \(user)")
    guard let row else { return nil }
    guard try row.optional("answered_at", as: Date.self) == nil else { throw JoinRefusal.usedByThem }
    let claim = Claim(id: try row.get("id"), invite: invite, user: user, lease: UUID().uuidString)
    let taken = try db.change(
      """
      update invite_use set due_at = \(now + Claim.leaseSeconds), lease = \(claim.lease)
      where id = \(claim.id) and answered_at is null and (due_at is null or due_at <= \(now) or lease is null)
      """)
    return taken == 1 ? .mine(claim) : .busy
  }

  /// The user is in, and told so by the transaction's end.
  ///
  /// - Throws: ``LeaseLost``.
  static func finish(_ claim: Claim, at now: Date, on db: any Connection) throws {
    let finished = try db.change(
      """
      update invite_use set state = 'joined', answered_at = \(now), due_at = null, lease = null
      where id = \(claim.id) and lease = \(claim.lease)
      """)
    guard finished == 1 else { throw LeaseLost() }
  }

  /// The user is not in: whatever they took up is there for others.
  ///
  /// - Throws: ``LeaseLost``.
  static func undo(_ claim: Claim, because refusal: JoinRefusal, at now: Date, on db: any Connection) throws {
    let undone = try db.change("delete from invite_use where id = \(claim.id) and lease = \(claim.lease)")
    guard undone == 1 else { throw LeaseLost() }
    try putBack(claim.invite.id, because: refusal, at: now, on: db)
  }

  static func putBack(
    _ id: InviteID, because refusal: JoinRefusal, at now: Date, on db: any Connection
  ) throws {
    try db.change(
      """
      update invite set uses_count = uses_count - 1,
        state = case when state = 'accepted' and inviter_id is not null then 'pending' else state end,
        ended_at = case when state = 'accepted' and inviter_id is not null then null else ended_at end
      where id = \(id)
      """)
    if refusal == .gone { _ = try InviteStore.end(id, as: .revoked, at: now, on: db) }
  }

  /// Leaves it to the worker, at once.
  static func letGo(_ claim: Claim, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      update invite_use set due_at = \(now), lease = null
      where id = \(claim.id) and lease = \(claim.lease) and due_at is not null
      """)
  }
}

/// Two requests of one user's at the same moment; the second looks again.
struct ClaimedTwice: Error {}
