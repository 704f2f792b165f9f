import Database
import Foundation
import Logging
import Outbox
import Prometheus
import Support
import Synchronization
import Testing
import Web

/// Changes across services are begun in the owner's table and finished despite failures and crashes.
@Suite struct SagaTests {
  private static let migration = Migration(
    "moves",
    """
    create table move (id text primary key, state text not null, \(LeaseTable.columns), constraint a check (tries >= 0))
    """)

  private static let leases = LeaseTable(table: "move", selected: "state", leaseDuration: .seconds(30))

  private func withMoves(
    _ engine: Engine, _ body: (any Database, TestClock, Dependencies) async throws -> Void
  ) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open("moves", [Self.migration])
      let clock = TestClock()
      try await body(
        database, clock, Dependencies(Settings([:]), logger: quiet, pollInterval: .milliseconds(20), now: { clock.now })
      )
      await database.close()
    }
  }

  private func begin(_ id: String, on database: any Database, at now: Date) async throws {
    try await database.write { db in
      try db.change("insert into move (id, state, due_at) values (\(id), 'begun', \(now))")
    }
  }

  private func states(_ database: any Database) async throws -> [String] {
    try await database.read { db in try db.rows("select state from move order by id").map { try $0.get("state") } }
  }

  private func finish(_ row: SagaRow) async throws {
    try await row.step(last: true) { db in try db.change("update move set state = 'done' where id = \(row.key)") }
  }

  @Test(arguments: engines) func whatWasBegunIsFinishedOnceByWhoeverComesFirst(engine: Engine) async throws {
    try await withMoves(engine) { database, clock, dependencies in
      let asked = Mutex<[String: Int]>([:])
      let sagas = (0..<3).map { _ in
        Saga("move", Self.leases, database: database, in: dependencies) { row in
          asked.withLock { $0[row.key, default: 0] += 1 }
          try await finish(row)
        }
      }
      for number in 0..<40 { try await begin("\(number)", on: database, at: clock.now) }
      try await running(sagas) {
        try await eventually { try await states(database).allSatisfy { $0 == "done" } }
      }
      #expect(asked.withLock { $0.values.allSatisfy { $0 == 1 } && $0.count == 40 })
    }
  }

  @Test(arguments: engines) func aStepThatFailsIsTakenAgainFromTheStart(engine: Engine) async throws {
    try await withMoves(engine) { database, clock, dependencies in
      let tries = Mutex(0)
      let saga = Saga("move", Self.leases, database: database, in: dependencies) {
        row in
        try await row.step { db in try db.change("update move set state = 'claimed' where id = \(row.key)") }
        guard
          tries.withLock({
            $0 += 1; return $0 > 9
          })
        else { throw ReceiverFailure(status: 503) }
        try await finish(row)
      }
      try await begin("1", on: database, at: clock.now)
      try await running([saga]) {
        try await eventually("the end of it", passing: .seconds(1), on: clock) {
          try await database.read { db in
            try db.row("select count(*) as leased from move where lease is not null")?.get("leased") ?? 0
          }
        } _: {
          try await states(database) == ["done"]
        }
      }
      #expect(tries.withLock { $0 } == 10)
    }
  }

  @Test(arguments: engines) func whoTookTooLongChangesNothingMore(engine: Engine) async throws {
    try await withMoves(engine) { database, clock, dependencies in
      let isHeld = Mutex(true)
      let lost = Mutex(0)
      func saga(_ name: String) -> Saga {
        Saga("move", Self.leases, database: database, in: dependencies) { row in
          if name == "slow" { try await eventually { isHeld.withLock { !$0 } } }
          do {
            try await row.step(last: true) { db in
              try db.change("update move set state = \(name) where id = \(row.key)")
            }
          } catch let failure as LeaseLost {
            lost.withLock { $0 += 1 }
            throw failure
          }
        }
      }
      try await begin("1", on: database, at: clock.now)
      let slow = saga("slow")
      try await running([slow]) {
        try await eventually { try await tries(database) == 1 }
        let quick = saga("quick")
        try await running([quick]) {
          try await eventually {
            // Again, in case the slow worker has leased the row once more.
            clock.advance(by: .seconds(31))
            return try await states(database) == ["quick"]
          }
        }
        isHeld.withLock { $0 = false }
        try await eventually { lost.withLock { $0 } > 0 }
      }
      #expect(try await states(database) == ["quick"])
    }
  }

  private func tries(_ database: any Database) async throws -> Int {
    try await database.read { db in try db.row("select tries from move")?.get("tries") ?? -1 }
  }

  @Test func whatIsNotFinishedIsMeasured() async throws {
    try await withMoves(.sqlite) { database, clock, dependencies in
      let saga = Saga("move", Self.leases, database: database, in: dependencies) { _ in
        throw ReceiverFailure(status: 503)
      }
      try await begin("1", on: database, at: clock.now)
      try await begin("2", on: database, at: clock.now + 86_400)
      try await running([saga]) {
        try await eventually { dependencies.registry.text().contains("kith_move_unfinished 1") }
      }
    }
  }
}
