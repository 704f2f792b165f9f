/// The age of a session's cached plans, in executed statements and in time.
///
/// After five executions PostgreSQL caches the plan of a prepared statement until the table is vacuumed or analyzed. A
/// plan for an almost empty table reads all of it, also when it has grown since then. A session that discards its plans
/// from time to time uses a table's present size. Planning every execution (`plan_cache_mode = force_custom_plan`) does
/// so, too, but costs a quarter of the throughput.
struct PlanAge {
  private var plannedAt: ContinuousClock.Instant
  private var executions = 0

  /// Bounds how far a table can grow under a cached plan while many write to it.
  static let executionsMax = 1000
  /// The same for connections that execute few of the statements.
  static let durationMax = Duration.seconds(10)

  init(plannedAt: ContinuousClock.Instant = .now) { self.plannedAt = plannedAt }

  mutating func countExecutions(_ count: Int) { executions += count }

  func isOver(at now: ContinuousClock.Instant = .now) -> Bool {
    executions >= Self.executionsMax || plannedAt.duration(to: now) >= Self.durationMax
  }
}
