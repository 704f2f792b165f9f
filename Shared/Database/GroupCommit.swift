import DequeModule
import GRDB
import Synchronization

/// Commits the writes of concurrent callers together: they share one transaction and one sync of the disk.
///
/// A batch runs the writes that wait, in the order of their arrival, and those that arrive meanwhile, up to a bound.
/// Each runs in a savepoint of its own. A single caller waits for no others. What is guaranteed:
/// - A caller gets its result, and also the error of its body, after the commit: both may depend on changes of earlier
///   bodies in the batch. If the commit fails, its error goes to every caller of the batch, and nothing is changed.
/// - A body that throws undoes its own changes and no others.
/// - Where SQLite rolls back the whole transaction because of one body (`SQLITE_FULL`, `SQLITE_IOERR`), its caller gets
///   the error, and the earlier bodies of the batch run again.
/// - A write whose task is cancelled is removed as long as it waits. One that runs is completed.
///
/// Constraints have to be immediate. A deferred one would be checked by the commit, and its violation would fail the
/// whole batch.
final class GroupCommit: Sendable {
  private typealias Resume = @Sendable () -> Void

  /// A body whose caller is suspended.
  private struct Write: Sendable {
    let id: Int
    /// Runs the body. Its result resumes the caller.
    let run: @Sendable (GRDB.Database) throws -> Resume
    let fail: @Sendable (any Error) -> Void
  }

  private struct State {
    var lastID = 0
    var waiting: Deque<Write> = []
  }

  /// The error of a write with which the whole transaction ended.
  private struct Aborted: Error {
    let write: Write
    let cause: any Error
  }

  /// Bounds of a batch, so that its first caller is not delayed much by the others. At least one write is run.
  private static let writesMax = 64
  private static let durationMax = Duration.milliseconds(5)

  private let pool: DatabasePool
  private let state = Mutex(State())

  init(_ pool: DatabasePool) { self.pool = pool }

  /// How many writes wait for a batch.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Runs `body` in a transaction and returns after the commit. `body` may be run again.
  ///
  /// - Throws: what `body` throws, the error of `begin` or `commit`, `CancellationError` when the task was cancelled
  ///   before `body` was run.
  func write<T: Sendable>(_ body: @escaping @Sendable (GRDB.Database) throws -> T) async throws -> T {
    // A batch could run it before the check below.
    try Task.checkCancellation()
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let run = { @Sendable (db: GRDB.Database) throws -> Resume in
          let result = try body(db)
          return { continuation.resume(returning: result) }
        }
        state.withLock { $0.waiting.append(Write(id: id, run: run) { continuation.resume(throwing: $0) }) }
        scheduleBatch()
        // The handler may have been called before the write was there.
        if Task.isCancelled { cancel(id) }
      }
    } onCancel: {
      cancel(id)
    }
  }

  private func cancel(_ id: Int) {
    let removed = state.withLock { state in
      state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
    }
    removed?.fail(CancellationError())
  }

  /// Is called for every write that begins to wait, so that none is left: a batch runs at least one. Most batches find
  /// that an earlier one has run their write. The writer's queue keeps them in order with migrations, checkpoints and
  /// the closing of the connection.
  private func scheduleBatch() {
    pool.asyncWriteWithoutTransaction { [self] db in runBatch(on: db) }
  }

  private func runBatch(on db: GRDB.Database) {
    guard let newest = state.withLock({ $0.waiting.last?.id }) else { return }
    var hasBegun = false
    var ran: [(write: Write, resume: Resume)] = []
    do {
      try db.inTransaction(.immediate) {
        hasBegun = true
        let start = ContinuousClock.now
        while let write = next(after: ran.count, since: start) { ran.append((write, try run(write, on: db))) }
        return .commit
      }
      for (_, resume) in ran { resume() }
    } catch let aborted as Aborted {
      aborted.write.fail(aborted.cause)
      repeatLater(ran.map(\.write))
    } catch {
      // After a `begin` that has waited for another process in vain, those who have waited with it are not run again.
      let failed = hasBegun ? ran.map(\.write) : removeWaiting(through: newest)
      for write in failed { write.fail(error) }
    }
  }

  /// The write to run next; nil at the end of the batch.
  private func next(after count: Int, since start: ContinuousClock.Instant) -> Write? {
    guard count == 0 || (count < Self.writesMax && start.duration(to: .now) < Self.durationMax) else { return nil }
    return state.withLock { $0.waiting.popFirst() }
  }

  /// Runs a body in a savepoint and returns what resumes its caller after the commit.
  ///
  /// - Throws: ``Aborted`` when SQLite has rolled back the whole transaction. GRDB refuses every statement in it then,
  ///   also when the body has caught the error.
  private func run(_ write: Write, on db: GRDB.Database) throws -> Resume {
    do {
      try db.cachedStatement(sql: "savepoint one_write").execute()
      let resume: Resume
      do { resume = try write.run(db) } catch {
        guard db.isInsideTransaction else { throw error }
        try db.cachedStatement(sql: "rollback to one_write").execute()
        resume = { write.fail(error) }
      }
      try db.cachedStatement(sql: "release one_write").execute()
      return resume
    } catch {
      throw Aborted(write: write, cause: error)
    }
  }

  /// Puts back writes of a transaction that was rolled back, before those that wait.
  private func repeatLater(_ writes: [Write]) {
    state.withLock { $0.waiting.prepend(contentsOf: writes) }
    for _ in writes { scheduleBatch() }
  }

  private func removeWaiting(through newest: Int) -> [Write] {
    state.withLock { state in
      defer { state.waiting.removeAll { $0.id <= newest } }
      return state.waiting.filter { $0.id <= newest }
    }
  }
}
