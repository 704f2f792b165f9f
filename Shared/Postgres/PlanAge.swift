/// The age of a session's cached plans, in executed statements and in time.
///
/// After five executions PostgreSQL caches the plan of a prepared statement until the table is vacuumed or analyzed. A
/// plan for an almost empty table reads all of it, also when it has grown since then. A session that discards its plans
/// from time to time uses a table's present size. Planning every execution (`plan_cache_mode = force_custom_plan`) does
/// so, too, but costs a quarter of the throughput.
struct PlanAge {
  private let plannedAt: ContinuousClock.Instant
  private let executionsMax: Int
  private var executions = 0

  /// Bounds how far a new table can grow under a cached plan while many write to it.
  static let firstExecutionsMax = 1000
  /// The same for connections that execute few of the statements.
  static let durationMax = Duration.seconds(10)
  /// Up to so many executions may use plans for ``fewExecutionsDurationMax``: a service at rest would otherwise plan
  /// nearly every statement again.
  static let fewExecutionsMax = 50
  static let fewExecutionsDurationMax = Duration.seconds(60)

  init(plannedAt: ContinuousClock.Instant = .now, executionsMax: Int = Self.firstExecutionsMax) {
    self.plannedAt = plannedAt
    self.executionsMax = executionsMax
  }

  /// After plans were discarded: those that follow last for twice as many executions, in which a table that grows with
  /// them can only double once more.
  func renewed(at now: ContinuousClock.Instant = .now) -> PlanAge {
    PlanAge(plannedAt: now, executionsMax: min(executionsMax, .max / 2) * 2)
  }

  mutating func countExecutions(_ count: Int) { executions += count }

  func isOver(at now: ContinuousClock.Instant = .now) -> Bool {
    let durationMax = executions <= Self.fewExecutionsMax ? Self.fewExecutionsDurationMax : Self.durationMax
    return executions >= executionsMax || plannedAt.duration(to: now) >= durationMax
  }
}
