import Foundation
import Prometheus
import Synchronization

/// The state of the ledger after an audit.
struct AuditReport: Sendable {
  /// How many operations and accounts this audit has looked at.
  var operationCount = 0
  var accountCount = 0
  let auditedAt: Date?
  /// When everything was verified, not only what had changed.
  let passEndedAt: Date?
  /// How many findings are not resolved, by check.
  let counts: [AuditCheck: Int]
  /// The oldest of them.
  let findings: [AuditFinding]

  init(progress: AuditProgressStore.Progress, counts: [AuditCheck: Int], findings: [AuditFinding]) {
    self.auditedAt = progress.auditedAt
    self.passEndedAt = progress.passEndedAt
    self.counts = counts
    self.findings = findings
  }

  var isConsistent: Bool { counts.isEmpty }
}

/// The last report, for the metrics and for `/health`.
final class AuditStatus: Sendable {
  private let report = Mutex<AuditReport?>(nil)

  init(in registry: MetricsRegistry, now: @escaping @Sendable () -> Date) {
    registry.gauge(
      "kith_ledger_findings", "Inconsistencies of the ledger that audits have found, by check.", labels: ["check"]
    ) { [weak self] in
      guard let report = self?.report.withLock({ $0 }) else { return [] }
      return AuditCheck.allCases.map { ([$0.rawValue], Double(report.counts[$0] ?? 0)) }
    }
    registry.gauge("kith_ledger_audit_age_seconds", "Time since the last audit of the ledger.") { [weak self] in
      guard let auditedAt = self?.report.withLock({ $0?.auditedAt }) else { return [] }
      return [([], max(0, now().timeIntervalSince(auditedAt)))]
    }
  }

  func set(_ report: AuditReport) { self.report.withLock { $0 = report } }

  /// `ok`, `inconsistent`, or `unaudited` before the first audit.
  var text: String {
    report.withLock { report in
      guard let report, report.auditedAt != nil else { return "unaudited" }
      return report.isConsistent ? "ok" : "inconsistent"
    }
  }
}

/// The body of `GET /internal/credits/audit`.
struct AuditBody: Encodable {
  struct Finding: Encodable {
    let check: String
    let subject: String
  }

  let status: String
  let operations: Int
  let accounts: Int
  let findings: Int
  let oldest: [Finding]
  let audited_at: Date?
  let everything_audited_at: Date?

  init(_ report: AuditReport) {
    status = report.isConsistent ? "ok" : "inconsistent"
    operations = report.operationCount
    accounts = report.accountCount
    findings = report.counts.values.reduce(0, +)
    oldest = report.findings.map { Finding(check: $0.check.rawValue, subject: $0.subject) }
    audited_at = report.auditedAt
    everything_audited_at = report.passEndedAt
  }
}
