import Database
import Foundation
import NIOCore
import NIOPosix
import Support
import Testing

@testable import Postgres

/// Reads that wait at the same time and share a round trip (``Database/rows(of:)``).
@Suite(.enabled(if: postgresURL != nil)) struct SharedReadTests {
  private static let schema = [Migration("tables", "create table a (x bigint primary key)")]
  /// Both are those of the implicit transaction.
  private static let transaction: SQL = "select pg_backend_pid() as pid, cast(now() as text) as began"

  /// A database on which nobody times out however busy the machine is.
  private func withDatabase(
    connections: Int = 1, _ body: (Postgres, TestDatabase) async throws -> Void
  ) async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let opened = try await testDatabase.open("test", Self.schema, connections: 1)
      await opened.close()
      let database = try Postgres(
        url: testDatabase.databaseURL, schema: "test", connections: connections, acquireTimeout: .seconds(600),
        logger: quiet)
      try await body(database, testDatabase)
      await database.close()
    }
  }

  /// Starts the reads one after the other while the only connection is in use, and returns their results.
  private func whileBusy<T: Sendable>(
    _ database: Postgres, count: Int, _ read: @escaping @Sendable (Int) async throws -> T
  ) async throws -> [Result<T, any Error>] {
    let held = HeldConnection()
    async let busy = held.hold(database)
    await held.waitUntilHeld()
    var tasks: [Task<T, any Error>] = []
    for number in 0..<count {
      tasks.append(Task { try await read(number) })
      try await eventually("read \(number) in the queue") { database.pool.waitingCount == number + 1 }
    }
    held.release()
    #expect(try await busy)
    var results: [Result<T, any Error>] = []
    for task in tasks { results.append(await task.result) }
    return results
  }

  @Test func oneThatIsOnlyBegunSharesTheRoundTrip() async throws {
    try await withDatabase { database, _ in
      let results = try await whileBusy(database, count: 4) { number in
        guard number > 1 else { return try await database.rows(of: [Self.transaction]) }
        return try await withCheckedThrowingContinuation { continuation in
          let isBegun = database.submit([Self.transaction], whenConnected: {}) { continuation.resume(with: $0) }
          #expect(isBegun)
        }
      }
      #expect(Set(try results.map { try $0.get()[0][0].get("began", as: String.self) }).count == 1)
    }
  }

  @Test func oneThatIsOnlyBegunFailsAlone() async throws {
    try await withDatabase { database, _ in
      let begin: @Sendable (SQL) async throws -> [[Row]] = { statement in
        try await withCheckedThrowingContinuation { continuation in
          #expect(database.submit([statement], whenConnected: {}) { continuation.resume(with: $0) })
        }
      }
      let wrong = Task { try await begin("select * from nothing") }
      let right = Task { try await begin("select 1 as one") }
      let rows = try await right.value
      #expect(try rows[0][0].get("one", as: Int.self) == 1)
      await #expect(throws: DatabaseFailure.self) { try await wrong.value }
      await database.close()
      await #expect(throws: DatabaseFailure.unavailable("closed")) { _ = try await begin("select 1 as one") }
    }
  }

  @Test func sixteenThatWaitAreOneTransaction() async throws {
    try await withDatabase { database, _ in
      let began = try await whileBusy(database, count: 40) { number in
        let rows = try await database.rows(of: ["select cast(\(number) as bigint) as n", Self.transaction])
        #expect(try rows[0][0].get("n") == number)
        return try rows[1][0].get("began", as: String.self)
      }.map { try $0.get() }
      #expect(Set(began[0..<16]).count == 1 && Set(began[16..<32]).count == 1 && Set(began[32..<40]).count == 1)
      #expect(Set(began).count == 3)
    }
  }

  /// Although the connection is idle when the first of them asks for it. A full round trip does not wait for the others.
  @Test func thoseThatAnEventLoopBeginsInOneTurnAreOneTransaction() async throws {
    try await withDatabase { database, _ in
      let loop = MultiThreadedEventLoopGroup.singleton.any()
      _ = try await database.row(Self.transaction)
      for count in [2, 15, 16] {
        try await eventually("the connection is idle") { database.pool.idleCount == 1 }
        let idle = loop.makePromise(of: Int.self)
        let reads = try await loop.submit {
          let reads = (0..<count).map { _ in
            Task(executorPreference: EventLoopExecutor(loop)) {
              try await database.row(Self.transaction)?.get("began", as: String.self)
            }
          }
          // Once all of them have asked.
          loop.execute { idle.succeed(database.pool.idleCount) }
          return reads
        }.get()
        var transactions: Set<String?> = []
        for read in reads { transactions.insert(try await read.value) }
        #expect(transactions.count == 1 && !transactions.contains(nil))
        #expect(try await idle.futureResult.get() == (count < 16 ? 1 : 0))
      }
    }
  }

  @Test func oneThatFailsDoesNotHarmTheOthers() async throws {
    try await withDatabase { database, _ in
      let results = try await whileBusy(database, count: 8) { number in
        let divisor = number == 3 ? 0 : 1
        return try await database.row("select cast(\(number) as bigint) / cast(\(divisor) as bigint) as n")?
          .get("n", as: Int.self)
      }
      for (number, result) in results.enumerated() where number != 3 { #expect(try result.get() == number) }
      #expect(throws: DatabaseFailure.self) { try results[3].get() }
      #expect(try await database.row("select 1 as one") != nil)
    }
  }

  /// By several connections, as the reason may be that the statements take long.
  @Test func readsWhoseRoundTripFailsAreRepeatedSideBySide() async throws {
    try await withDatabase(connections: 2) { database, _ in
      let (first, second) = (HeldConnection(), HeldConnection())
      async let one = first.hold(database)
      async let other = second.hold(database)
      await first.waitUntilHeld()
      await second.waitUntilHeld()
      var reads: [Task<Int?, any Error>] = []
      for number in 0..<8 {
        reads.append(
          Task {
            let statement: SQL =
              number == 0
              ? "select cast(1 as bigint) / cast(0 as bigint) as pid"
              : "select pg_backend_pid() as pid, cast(pg_sleep(0.3) as text) as slept"
            return try await database.row(statement)?.get("pid", as: Int.self)
          })
        try await eventually("read \(number) in the queue") { database.pool.waitingCount == number + 1 }
      }
      first.release()
      second.release()
      let wereHeld = try await [one, other]
      #expect(wereHeld == [true, true])
      await #expect(throws: DatabaseFailure.self) { try await reads[0].value }
      var connections: Set<Int?> = []
      for read in reads.dropFirst() { connections.insert(try await read.value) }
      #expect(connections.count == 2 && !connections.contains(nil))
    }
  }

  @Test func whoGivesUpDuringARoundTripThatFailsIsNotServedAgain() async throws {
    try await withDatabase { database, testDatabase in
      let (held, locked) = (HeldConnection(), HeldConnection())
      let other = try await testDatabase.open("other", [], connections: 1)
      async let lock = other.read { db in
        _ = try db.rows("select cast(pg_advisory_xact_lock(7) as text) as lock")
        return locked.wait()
      }
      await locked.waitUntilHeld()
      async let busy = held.hold(database)
      await held.waitUntilHeld()
      // Waits for the lock, and divides by the length of an empty text.
      let blocked = Task { try await database.row("select 1 / length(cast(pg_advisory_xact_lock(7) as text)) as n") }
      try await eventually("one waits") { database.pool.waitingCount == 1 }
      let late = Task { try await database.row("select cast(1 as bigint) as n") }
      try await eventually("both wait") { database.pool.waitingCount == 2 }
      held.release()
      #expect(try await busy)
      try await eventually("both have the connection") { database.pool.waitingCount == 0 }
      late.cancel()
      locked.release()
      #expect(try await lock)
      await #expect(throws: DatabaseFailure.self) { try await blocked.value }
      await #expect(throws: CancellationError.self) { try await late.value }
      await other.close()
    }
  }

  /// A body between reads has the connection for itself, in its turn, and later reads see its change.
  @Test func aChangeBetweenReadsKeepsItsTurn() async throws {
    try await withDatabase { database, _ in
      let counts = try await whileBusy(database, count: 7) { number in
        guard number == 3 else { return try await database.rows(of: ["select x from a"])[0].count }
        try await database.write { db in try db.change("insert into a (x) values (1)") }
        return -1
      }.map { try $0.get() }
      #expect(counts == [0, 0, 0, -1, 1, 1, 1])
    }
  }

  @Test func theySurviveAConnectionThatDiedIdleAndOneThatDiesUnderThem() async throws {
    try await withDatabase { database, testDatabase in
      let before = try await database.row(Self.transaction)?.get("pid", as: Int.self) ?? 0
      try await executeSQL(testDatabase.databaseURL, "select pg_terminate_backend(\(before))")
      let after = try await whileBusy(database, count: 8) { _ in
        try await database.row(Self.transaction)?.get("pid", as: Int.self) ?? 0
      }.map { try $0.get() }
      #expect(Set(after).count == 1 && !after.contains(before))
      // The third ends the connection each time that it is tried.
      let results = try await whileBusy(database, count: 4) { number in
        number == 2
          ? try await database.row("select pg_terminate_backend(pg_backend_pid()) as x")
          : try await database.row(Self.transaction)
      }
      #expect(throws: DatabaseFailure.self) { try results[2].get() }
      try await eventually("the connection is back") { (try? await database.row(Self.transaction)) != nil }
    }
  }

  @Test func whoGivesUpWhileWaitingIsNotServed() async throws {
    try await withDatabase { database, _ in
      let held = HeldConnection()
      async let busy = held.hold(database)
      await held.waitUntilHeld()
      let tasks = (0..<6).map { number in
        Task { try await database.row("select cast(\(number) as bigint) as n")?.get("n", as: Int.self) }
      }
      try await eventually("six wait") { database.pool.waitingCount == 6 }
      for number in [0, 2, 5] { tasks[number].cancel() }
      for number in [0, 2, 5] {
        let result = await tasks[number].result
        #expect(throws: CancellationError.self) { try result.get() }
      }
      held.release()
      #expect(try await busy)
      for number in [1, 3, 4] { #expect(try await tasks[number].value == number) }
    }
  }

  /// The default transaction of a session is read-only, also for statements that share it.
  @Test func noneCanWrite() async throws {
    try await withDatabase { database, _ in
      let results = try await whileBusy(database, count: 3) { number in
        number == 1
          ? try await database.row("insert into a (x) values (1) returning x")
          : try await database.row("select x from a")
      }
      #expect(throws: DatabaseFailure.self) { try results[1].get() }
      #expect(try results[0].get() == nil && results[2].get() == nil)
    }
  }
}

/// Runs the jobs of tasks on an event loop, as servers do.
private final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
