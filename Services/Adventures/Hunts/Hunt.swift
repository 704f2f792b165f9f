import Database
import Foundation
import RestQueries
import Tokens
import Wire

enum HuntStatus: String, Sendable {
  case draft, active, completed, cancelled

  var isOver: Bool { self == .completed || self == .cancelled }

  func mayBecome(_ next: HuntStatus) -> Bool {
    switch (self, next) {
    case (.draft, .active), (.active, .completed), (.active, .cancelled): true
    default: self == next
    }
  }
}

/// A hunt, as far as its rules need it.
struct Hunt: Sendable {
  let id: String
  let createdBy: UserID
  let groupID: GroupID?
  let status: HuntStatus
  let startTime: Date?
  let endTime: Date?

  fileprivate init(_ row: Row) throws {
    id = try row.get("id")
    createdBy = try row.get("created_by")
    groupID = try row.optional("group_id")
    status = try row.enumValue("status")
    startTime = try row.optional("start_time")
    endTime = try row.optional("end_time")
  }

  /// Eight characters: with the limits of wrong ones, not to be found by trying.
  static func newInviteCode() -> String { Random.text(count: 8, of: Random.unambiguousCharacters) }

  /// - Throws: ``RestQueries/RestFailure`` 400.
  func requireTransition(to text: String) throws {
    guard let next = HuntStatus(rawValue: text), status.mayBecome(next) else {
      throw RestFailure.huntState(from: status)
    }
  }

  /// Whether it is over at that time, by its state or its end.
  func isOver(at now: Date) -> Bool { status.isOver || endTime.map { $0 <= now } ?? false }

  /// Whether checkpoints may be submitted.
  func isRunning(at now: Date) -> Bool {
    status == .active && startTime.map { $0 <= now } ?? true && endTime.map { $0 > now } ?? true
  }
}

/// Statements on the rows of hunts.
extension Hunt {
  /// Locks hunts, so that what is read about them stays true until the transaction ends. In the order of their ids, so
  /// that two transactions cannot deadlock.
  static func lock(_ ids: [String], on db: any Connection) throws -> [Hunt] {
    try ids.sorted().compactMap { id in
      try db.row(
        """
        update hunt set status = status where id = \(ID<Hunt>(id))
        returning id, created_by, group_id, status, start_time, end_time
        """
      ).map(Hunt.init)
    }
  }

  static func isVisible(_ id: String, _ caller: RestQueries.Caller, on db: any Connection) throws -> Bool {
    guard let id = ID<Hunt>(id) else { return false }
    return try db.row("select h.id from hunt h where h.id = \(id) and \(AdventureTables.isVisible("h.id", caller))")
      != nil
  }

  /// Whether the caller sees what is submitted in it.
  static func areSubmissionsVisible(in id: String, _ caller: RestQueries.Caller, on db: any Connection) throws -> Bool {
    guard let id = ID<Hunt>(id) else { return false }
    let condition = AdventureTables.areSubmissionsVisible(in: "h.id", caller)
    return try db.row("select h.id from hunt h where h.id = \(id) and \(condition)") != nil
  }
}

extension RestFailure {
  static func huntState(from status: HuntStatus?) -> RestFailure {
    RestFailure(
      400, "23514", "new row for relation \"scavenger_hunts\" violates check constraint \"scavenger_hunts_status\"",
      details: status.map { "A hunt that is \($0.rawValue) does not become that." } ?? "A new hunt is a draft.",
      hint: "Hunts go from draft to active, and from active to completed or cancelled.")
  }

  static func huntNotRunning(_ why: String) -> RestFailure {
    RestFailure(400, "P0001", why)
  }
}
