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

  /// Takes up the invite. Whoever was cut off before they were answered takes up their own claim again; who was answered
  /// and has gone since then makes another one.
  ///
  /// - Parameters:
  ///   - isAddressed: whether the invite is for nobody's address, or for the user's.
  ///   - welcome: what was said of them where it leads.
  /// - Throws: ``JoinRefusal``.
  static func claim(
    _ id: InviteID, for user: UserID, isAddressed: Bool, _ welcome: Welcome = .open, at now: Date,
    on db: any Connection
  ) throws -> Claim.Attempt {
    guard let invite = try InviteStore.find(id, on: db) else { throw JoinRefusal.unknown }
    if let earlier = try again(invite, user, at: now, on: db) { return earlier }
    try invite.requireOpen(to: user, at: now, isAddressed: isAddressed)
    switch welcome {
    case .unasked: return .unasked(invite)
    case .refused(let refusal): throw refusal
    case .open: break
    }
    guard try takeUp(id, at: now, on: db) else { return .busy }
    let claim = Claim(id: .new(at: now), invite: invite, user: user, lease: UUID().uuidString)
    // The same user's other request was first: what this one took up is given back.
    guard try note(claim, at: now, on: db) else { throw ClaimedTwice() }
    return .mine(claim)
  }

  /// False when there is another of the user's that nobody has been answered for.
  private static func note(_ claim: Claim, at now: Date, on db: any Connection) throws -> Bool {
    try db.change(
      """
      insert into invite_use (id, invite_id, user_id, state, claimed_at, due_at, lease)
      values (\(claim.id), \(claim.invite.id), \(claim.user), 'claimed', \(now), \(now + Claim.leaseSeconds),
        \(claim.lease))
      on conflict (invite_id, user_id) do update set id = excluded.id, state = excluded.state,
        claimed_at = excluded.claimed_at, answered_at = null, due_at = excluded.due_at, lease = excluded.lease, tries = 0
      where invite_use.answered_at is not null
      """) == 1
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

  /// nil when the user has not come this way before, or has been answered.
  private static func again(
    _ invite: Invite, _ user: UserID, at now: Date, on db: any Connection
  ) throws -> Claim.Attempt? {
    let row = try db.row(
      "select id from invite_use where invite_id = \(invite.id) and user_id = \(user) and answered_at is null")
    guard let row else { return nil }
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
    if [.gone, .lapsed].contains(refusal) { _ = try InviteStore.end(id, as: .revoked, at: now, on: db) }
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
