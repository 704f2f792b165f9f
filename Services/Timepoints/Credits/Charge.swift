import Database
import Foundation
import Outbox
import Wire

/// What one operation costs its user: credits that are held while it is done, and then captured or given back.
struct Charge: Sendable {
  enum State: String, Sendable {
    /// The hold is being asked for, and may exist.
    case opening
    case held
    /// The work is done: the credits are to be captured.
    case earned
    /// The work has failed, or nobody does it any more: the credits are to be given back.
    case void
    case captured, released
  }

  let id: ChargeID
  let user: UserID
  let operation: String
  /// The timepoint.
  let reference: TimepointID
  /// How long the credits are held at most.
  let lifetimeSeconds: Int
}

typealias ChargeID = ID<Charge>

/// The names of what costs credits, as `/credits/costs` has them.
enum PricedOperation {
  static let chat = "chat"
  static let jump = "temporal_jump"

  static func generation(_ preset: Preset) -> String { "generate_\(preset.rawValue)" }
}

/// All statements on `charge`. An update of its state decides between those who want to end it.
enum ChargeStore {
  /// - Parameter due: when the hold is taken back, if the request has not answered by then.
  static func open(_ charge: Charge, at now: Date, due: Date, on db: any Connection) throws {
    try db.change(
      """
      insert into charge (id, user_id, operation, reference_id, state, lifetime_seconds, created_at, due_at)
      values (\(charge.id), \(charge.user), \(charge.operation), \(charge.reference), 'opening',
        \(charge.lifetimeSeconds), \(now), \(due))
      """)
  }

  static func delete(_ id: ChargeID, on db: any Connection) throws {
    try db.change("delete from charge where id = \(id)")
  }

  /// Records the hold.
  ///
  /// - Parameter due: when the credits are given back, if the work is not done by then; nil where a job decides.
  /// - Throws: 503 when it was given up meanwhile.
  static func hold(_ id: ChargeID, _ hold: OpenedCreditHold, due: Date?, on db: any Connection) throws {
    let count = try db.change(
      """
      update charge set state = 'held', hold_id = \(hold.id), cost = \(hold.cost), due_at = \(due), lease = null
      where id = \(id) and state = 'opening'
      """)
    guard count == 1 else { throw Failure.unavailable }
  }

  /// Decides that the credits are captured, or given back.
  ///
  /// - Returns: false when it was decided otherwise, or is not there.
  static func decide(_ id: ChargeID, _ state: Charge.State, due: Date, on db: any Connection) throws -> Bool {
    let count = try db.change(
      """
      update charge set state = \(state.rawValue), due_at = \(due), lease = null where id = \(id) and state = 'held'
      """)
    if count == 1 { return true }
    let reached: [Charge.State] = state == .earned ? [.earned, .captured] : [.void, .released]
    let row = try db.row("select state from charge where id = \(id)")
    return try row.map { reached.contains(try $0.enumValue("state")) } ?? false
  }

  /// Whether the credits are captured, or will be.
  static func isEarned(_ id: ChargeID, on db: any Connection) throws -> Bool {
    try db.row("select id from charge where id = \(id) and state in ('earned', 'captured')") != nil
  }

  static func settled(_ id: ChargeID, _ state: Charge.State, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      update charge set state = \(state.rawValue), settled_at = \(now), due_at = null, lease = null
      where id = \(id) and state in ('earned', 'void')
      """)
  }

  static func hold(of id: ChargeID, on db: any Connection) throws -> OpenedCreditHold? {
    let row = try db.row("select hold_id, cost from charge where id = \(id) and hold_id is not null")
    return try row.map { OpenedCreditHold(id: try $0.get("hold_id"), cost: try $0.get("cost")) }
  }

  static func erase(_ user: UserID, on db: any Connection) throws {
    try db.change("delete from charge where user_id = \(user)")
  }

  /// Returns how many were deleted.
  static func sweep(before date: Date, limit: Int, on db: any Connection) throws -> Int {
    try db.change(
      """
      delete from charge where id in (
        select id from charge where settled_at <= \(date) order by settled_at limit \(limit))
      """)
  }

  static let leases = LeaseTable(
    table: "charge", selected: "user_id, operation, reference_id, lifetime_seconds, state, hold_id",
    leaseDuration: .seconds(30))
}
