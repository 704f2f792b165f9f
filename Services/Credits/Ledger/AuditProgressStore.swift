import Database
import Foundation
import Wire

/// SQL on the progress of the audits, in one row that all replicas share, and on their findings.
enum AuditProgressStore {
  /// The state of the audits.
  struct Progress: Sendable {
    /// All operations up to this one were verified when no transaction could still add one before it.
    let verified: OperationID
    let auditedAt: Date?
    let pass: Pass
    /// When the last pass over everything ended.
    let passEndedAt: Date?
  }

  /// How far the slow pass over everything is. Without a cursor, its operations or accounts are done.
  struct Pass: Sendable, Hashable {
    var operation: OperationID?
    var account: String?
    var beganAt: Date?

    var isRunning: Bool { operation != nil || account != nil }
  }

  static func progress(on db: any Connection) throws -> Progress {
    let row = try db.row(
      """
      select verified_operation_id, audited_at, pass_operation_id, pass_account_id, pass_began_at, pass_ended_at
      from ledger_audit where id = 1
      """)
    guard let row else { throw DatabaseFailure.unreadable(column: "ledger_audit") }
    return Progress(
      verified: try row.get("verified_operation_id"), auditedAt: try row.optional("audited_at"),
      pass: Pass(
        operation: try row.optional("pass_operation_id"), account: try row.optional("pass_account_id"),
        beganAt: try row.optional("pass_began_at")), passEndedAt: try row.optional("pass_ended_at"))
  }

  /// Claims the next audit. False when another replica has it, or when it is not due.
  static func claim(at now: Date, every interval: Duration, on db: any Connection) throws -> Bool {
    let next = now + TimeInterval(interval.components.seconds)
    return try db.change("update ledger_audit set due_at = \(next) where id = 1 and due_at <= \(now)") == 1
  }

  /// Moves the point up to which everything is verified. It never moves back.
  static func advance(to verified: OperationID, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      update ledger_audit set audited_at = \(now),
        verified_operation_id = case when verified_operation_id < \(verified) then \(verified)
          else verified_operation_id end
      where id = 1
      """)
  }

  static func save(_ pass: Pass, at now: Date, on db: any Connection) throws {
    try db.change(
      """
      update ledger_audit set pass_operation_id = \(pass.operation), pass_account_id = \(pass.account),
        pass_began_at = \(pass.beganAt), pass_ended_at = case when \(pass.isRunning) then pass_ended_at else \(now) end
      where id = 1
      """)
  }

  static func add(_ findings: Set<AuditFinding>, at now: Date, on db: any Connection) throws {
    for finding in findings {
      try db.change(
        """
        insert into ledger_finding (check_name, subject, found_at)
        values (\(finding.check.rawValue), \(finding.subject), \(now)) on conflict do nothing
        """)
    }
  }

  static func remove(_ findings: Set<AuditFinding>, on db: any Connection) throws {
    for finding in findings {
      try db.change(
        "delete from ledger_finding where check_name = \(finding.check.rawValue) and subject = \(finding.subject)")
    }
  }

  /// Findings that are not resolved, the oldest first, at most a hundred.
  static func findings(on db: any Connection) throws -> [AuditFinding] {
    try db.rows("select check_name, subject from ledger_finding order by found_at limit 100").map {
      AuditFinding(check: try $0.enumValue("check_name"), subject: try $0.get("subject"))
    }
  }

  /// How many findings are not resolved, by check.
  static func counts(on db: any Connection) throws -> [AuditCheck: Int] {
    let rows = try db.rows("select check_name, count(*) as found from ledger_finding group by check_name")
    return Dictionary(try rows.map { (try $0.enumValue("check_name"), try $0.get("found")) }) { $1 }
  }
}
