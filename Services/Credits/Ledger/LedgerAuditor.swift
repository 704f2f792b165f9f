import Database
import Foundation
import Logging
import ServiceLifecycle
import Web
import Wire

/// Verifies the ledger: every minute what has changed since, and slowly, over and over, everything.
///
/// An operation's id begins with the time at which it was made, which is shortly before its transaction commits, so
/// transactions commit in another order than that of their ids. An audit reads all operations behind the verified
/// point, up to the newest, but moves the point only to the ids of two minutes ago. Every request ends within thirty
/// seconds: an operation that was not visible yet is read by the next audits. What commits even later, by a process
/// that was paused or whose clock is behind, is found by the pass over everything.
///
/// The posting of an operation is compared with the one before it, so that the last one of an account is the sum of all
/// of them, as postings are never changed. So an audit reads as much as has changed, however large the ledger is.
struct LedgerAuditor: Service {
  let database: any Database
  let status: AuditStatus
  let logger: Logger
  let now: @Sendable () -> Date
  let interval: Duration

  /// The age of the ids that no transaction adds any more.
  static let commitDelayMax: TimeInterval = 120
  /// How often everything is verified, at most.
  private static let passInterval: TimeInterval = 86_400
  /// How many batches one audit reads of what has changed, by the worker and for a request, and of everything.
  private static let batchesMax = (changed: 50, requested: 5, pass: 5)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await repeatUntilCancelled(every: interval) {
        do { try await auditIfDue() } catch {
          logger.warning("the ledger was not audited", metadata: ["error": "\(error)"])
        }
      }
    }
  }

  /// Of several replicas one audits; the others read what it has found.
  func auditIfDue() async throws {
    let now = now()
    let isDue = try await database.write { [interval] db in
      try AuditProgressStore.claim(at: now, every: interval, on: db)
    }
    guard isDue else { return status.set(try await report()) }
    _ = try await audit(batchesMax: Self.batchesMax.changed)
    try await continuePass()
    status.set(try await report())
  }

  /// Audits what has changed since the last audit, and what was found before, while a request waits for it. What is left
  /// of a long backlog is audited by the worker.
  func audit() async throws -> AuditReport { try await audit(batchesMax: Self.batchesMax.requested) }

  private func audit(batchesMax: Int) async throws -> AuditReport {
    let now = now()
    let progress = try await database.read { try AuditProgressStore.progress(on: $0) }
    var found = AuditFindings()
    let touched = try await auditOperations(after: progress.verified, batchesMax: batchesMax, at: now, &found)
    let since = (progress.auditedAt ?? now) - Self.commitDelayMax
    let holders = try await database.read { try LedgerAuditStore.accounts(withHoldsSince: since, on: $0) }
    try await auditAccounts(Array(touched.union(holders)), &found)
    let resolved = try await resolvedFindings()
    let findings = found.findings
    try await database.write { db in
      try AuditProgressStore.add(findings, at: now, on: db)
      try AuditProgressStore.remove(resolved.subtracting(findings), on: db)
    }
    var report = try await report()
    report.operationCount = found.operationCount
    report.accountCount = found.accountCount
    log(report, new: findings)
    status.set(report)
    return report
  }

  /// Reads the operations after the verified point, and moves it. Returns the accounts that they change.
  private func auditOperations(
    after verified: OperationID, batchesMax: Int, at now: Date, _ found: inout AuditFindings
  ) async throws -> Set<String> {
    let settledBefore = OperationID.first(at: now - Self.commitDelayMax)
    var (last, accounts) = (verified, Set<String>())
    for _ in 0..<batchesMax {
      let after = last
      let batch = try await database.read { try LedgerAuditStore.operations(after: after, on: $0) }
      found.add(batch)
      accounts.formUnion(batch.compactMap(\.account))
      last = batch.last?.id ?? last
      if batch.count < LedgerAuditStore.operationBatch { break }
    }
    let point = last.description < settledBefore.description ? last : settledBefore
    // Findings are stored before the point moves: after a crash they are found again.
    let findings = found.findings
    try await database.write { db in
      try AuditProgressStore.add(findings, at: now, on: db)
      try AuditProgressStore.advance(to: point, at: now, on: db)
    }
    return accounts
  }

  private func auditAccounts(_ ids: [String], _ found: inout AuditFindings) async throws {
    for start in stride(from: 0, to: ids.count, by: LedgerAuditStore.accountBatch) {
      let batch = Array(ids[start..<min(start + LedgerAuditStore.accountBatch, ids.count)])
      found.add(try await database.read { try LedgerAuditStore.accounts(batch, on: $0) })
    }
  }

  /// Continues the pass over everything by some batches, or begins a new one when the last began a day ago.
  private func continuePass() async throws {
    let now = now()
    var pass = try await database.read { try AuditProgressStore.progress(on: $0) }.pass
    if !pass.isRunning {
      if let beganAt = pass.beganAt, now.timeIntervalSince(beganAt) < Self.passInterval { return }
      pass = .init(operation: .first(at: .init(timeIntervalSince1970: 0)), account: "", beganAt: now)
    }
    var found = AuditFindings()
    for _ in 0..<Self.batchesMax.pass where pass.isRunning {
      if let operation = pass.operation {
        let batch = try await database.read { try LedgerAuditStore.operations(after: operation, on: $0) }
        found.add(batch)
        pass.operation = batch.count < LedgerAuditStore.operationBatch ? nil : batch.last?.id
      } else if let account = pass.account {
        pass.account = try await passAccounts(after: account, &found)
      }
    }
    let (findings, saved) = (found.findings, pass)
    try await database.write { db in
      try AuditProgressStore.add(findings, at: now, on: db)
      try AuditProgressStore.save(saved, at: now, on: db)
    }
  }

  /// Audits as many accounts as a batch of operations may change. Returns the last one, nil at the end.
  private func passAccounts(after account: String, _ found: inout AuditFindings) async throws -> String? {
    var last = account
    for _ in 0..<LedgerAuditStore.operationBatch / LedgerAuditStore.accountBatch {
      let after = last
      let ids = try await database.read { try LedgerAuditStore.accounts(after: after, on: $0) }
      try await auditAccounts(ids, &found)
      guard ids.count == LedgerAuditStore.accountBatch, let next = ids.last else { return nil }
      last = next
    }
    return last
  }

  /// Earlier findings that are no longer true.
  private func resolvedFindings() async throws -> Set<AuditFinding> {
    let known = try await database.read { try AuditProgressStore.findings(on: $0) }
    guard !known.isEmpty else { return [] }
    let subjects = Set(known.map(\.subject))
    var found = AuditFindings()
    let operations = subjects.compactMap { OperationID($0) }
    found.add(try await database.read { try LedgerAuditStore.operations(operations, on: $0) })
    try await auditAccounts(Array(subjects), &found)
    return Set(known).subtracting(found.findings)
  }

  private func report() async throws -> AuditReport {
    try await database.read { db in
      AuditReport(
        progress: try AuditProgressStore.progress(on: db), counts: try AuditProgressStore.counts(on: db),
        findings: try AuditProgressStore.findings(on: db))
    }
  }

  private func log(_ report: AuditReport, new findings: Set<AuditFinding>) {
    for finding in findings.prefix(10) {
      logger.error(
        "the ledger is inconsistent",
        metadata: ["check": "\(finding.check.rawValue)", "subject": "\(finding.subject)"])
    }
  }
}

extension OperationID {
  /// The lowest id that is made at a time.
  static func first(at time: Date) -> OperationID {
    let digits = Array(OperationID.new(at: time).description)
    // `?? .new`: the text is the first 48 bits of an id with zeros behind, which is an id.
    return OperationID(String(digits[..<13]) + "-0000-0000-000000000000") ?? .new(at: time)
  }
}
