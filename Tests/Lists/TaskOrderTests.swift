import Database
import Foundation
import Support
import Synchronization
import Testing
import Wire

@testable import Lists

/// The order of tasks.
@Suite struct TaskOrderTests {
  private func order(_ positions: [Int]) -> TaskOrder {
    TaskOrder(items: positions.enumerated().map { .init(id: $0 + 1, position: $1) })
  }

  /// The IDs in order after the moves, and the number of changed positions.
  private func after(_ moves: [TaskOrder.Move], in order: TaskOrder) throws -> (ids: [Int], changes: Int) {
    let changes = try order.changes(moves)
    var positions = order.items.reduce(into: [Int: Int]()) { $0[$1.id] = $1.position }
    for change in changes { positions[change.id] = change.position }
    #expect(Set(positions.values).count == positions.count)
    return (positions.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key), changes.count)
  }

  @Test func oneMovesAndTheOthersStay() throws {
    let three = order([100, 200, 300])
    #expect(try after([.init(id: 3, destination: .after(1))], in: three) == ([1, 3, 2], 1))
    #expect(try after([.init(id: 3, destination: .after(nil))], in: three) == ([3, 1, 2], 1))
    #expect(try after([.init(id: 1, destination: .after(3))], in: three) == ([2, 3, 1], 1))
    #expect(try after([.init(id: 3, destination: .before(2))], in: three) == ([1, 3, 2], 1))
    #expect(try after([.init(id: 1, destination: .at(250))], in: three) == ([2, 1, 3], 1))
    #expect(try after([.init(id: 1, destination: .at(250.5))], in: three) == ([2, 1, 3], 1))
    // Another task has that position: the moved one is directly behind it.
    #expect(try after([.init(id: 1, destination: .at(200))], in: three) == ([2, 1, 3], 1))
    #expect(try after([.init(id: 2, destination: .at(200))], in: three) == ([1, 2, 3], 0))
  }

  @Test func whereThereIsNoRoomAllAreSpreadAnew() throws {
    let tight = order([1, 2, 3])
    #expect(try after([.init(id: 3, destination: .after(1))], in: tight) == ([1, 3, 2], 3))
    #expect(try after([.init(id: 1, destination: .at(1_000_000))], in: tight) == ([2, 3, 1], 1))
    let edge = order([5, TaskOrder.positionMax + 1])
    #expect(try after([.init(id: 1, destination: .after(2))], in: edge).ids == [2, 1])
  }

  @Test func aWholeOrderIsTakenAsItIs() throws {
    let moves = [4, 2, 3, 1].enumerated().map { TaskOrder.Move(id: $1, destination: .at(Double($0))) }
    #expect(try order([100, 200, 300, 400]).changes(moves).map(\.position) == [0, 1, 2, 3])
    #expect(try after(moves, in: order([100, 200, 300, 400])).ids == [4, 2, 3, 1])
    // The same position for all keeps the order of the request.
    let same = [3, 1, 2].map { TaskOrder.Move(id: $0, destination: .at(7)) }
    #expect(try after(same, in: order([1, 2, 3])).ids == [3, 1, 2])
  }

  @Test func whatIsNotThereCannotMove() {
    let two = order([1, 2])
    #expect(throws: Failure.self) { try two.changes([.init(id: 3, destination: .at(1))]) }
    #expect(throws: Failure.self) { try two.changes([.init(id: 1, destination: .after(3))]) }
    #expect(throws: Failure.self) {
      try two.changes([.init(id: 1, destination: .at(1)), .init(id: 1, destination: .at(2))])
    }
  }

  @Test func aThousandRandomMovesKeepATotalOrder() throws {
    var random = SeededRandom(seed: 42)
    var items = (1...30).map { TaskOrder.Item(id: $0, position: $0 * 65_536) }
    for _ in 0..<1000 {
      let (id, other) = (Int.random(in: 1...30, using: &random), Int.random(in: 1...30, using: &random))
      guard id != other else { continue }
      for change in try TaskOrder(items: items).changes([.init(id: id, destination: .after(other))]) {
        items = items.map { $0.id == change.id ? change : $0 }
      }
      items.sort { $0.position < $1.position }
      #expect(zip(items, items.dropFirst()).allSatisfy { $0.position < $1.position })
      let place = try #require(items.firstIndex { $0.id == other })
      #expect(items[place + 1].id == id)
    }
  }

  @Test(arguments: engines) func twentyWhoReorderAtOnceKeepATotalOrder(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let bob = try await stack.signIn("bob").browser
      let list = try await alice.makeList()
      try await alice.share(list, with: "bob")
      var ids: [Int] = []
      for index in 0..<10 { ids.append(try await alice.makeTask(list, "\(index)")) }
      let tasks = ids
      let statuses = try await atOnce(20) { index in
        let browser = index.isMultiple(of: 2) ? alice : bob
        switch index % 4 {
        case 0:
          return try await browser.post("/api/v1/tasks/\(tasks[index % 10])/reorder", ["after_id": NSNull()]).status
        case 1:
          return try await browser.patch("/api/v1/tasks/\(tasks[9])/reorder", ["before_id": tasks[index % 9]]).status
        case 2:
          let moves = tasks.shuffled().enumerated().map { ["id": $1, "position": $0] }
          return try await browser.post("/api/v1/lists/\(list)/tasks/reorder", ["tasks": moves]).status
        default:
          let move: [String: any Sendable] = ["id": tasks[3], "position": 1.5]
          return try await browser.post("/api/v1/tasks/reorder", ["tasks": [move]]).status
        }
      }
      #expect(statuses.allSatisfy { $0 == 200 })
      let shown = try await alice.get("/api/v1/lists/\(list)/tasks").objects("tasks")
      let positions = shown.compactMap { $0.int("position") }
      #expect(Set(positions).count == 10 && positions == positions.sorted())
      #expect(Set(shown.compactMap { $0.int("id") }) == Set(tasks))
      let moved = try await bob.post("/api/v1/tasks/\(tasks[5])/reorder", ["after_id": tasks[0]])
      #expect(moved.status == 200)
      let order = try await bob.get("/api/v1/lists/\(list)/tasks").objects("tasks").compactMap { $0.int("id") }
      let place = try #require(order.firstIndex(of: tasks[0]))
      #expect(order[place + 1] == tasks[5])
    }
  }

  /// The body of a bulk move with one task.
  private func one(_ id: Int, _ position: Int, version: Int? = nil) -> [String: any Sendable] {
    var move = ["id": id, "position": position]
    move["version"] = version
    return ["tasks": [move]]
  }

  @Test(arguments: engines) func aMoveThatMakesNoSenseIsRefused(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let (list, other) = (try await alice.makeList(), try await alice.makeList("Other"))
      let (id, elsewhere) = (try await alice.makeTask(list), try await alice.makeTask(other))
      let path = "/api/v1/tasks/\(id)/reorder"
      for body in [
        ["position": "1"], [:], ["after_id": id], ["position": 1e300], ["position": Int.min], ["position": Int.max],
        ["position": 1, "version": "1"],
      ] as [[String: any Sendable]] {
        #expect(try await alice.post(path, body).status == 422, "\(body)")
        let several = ["tasks": [body.merging(["id": id]) { $1 }]]
        #expect(try await alice.post("/api/v1/tasks/reorder", several).faults == ["tasks"], "\(body)")
      }
      for path in ["/api/v1/tasks/reorder", "/api/v1/lists/\(list)/tasks/reorder"] {
        #expect(try await alice.post(path, ["tasks": [1]]).faults == ["tasks"])
        #expect(try await alice.with(["If-Match": "\"1\""]).post(path, one(id, 1)).faults == ["If-Match"])
      }
      #expect(try await alice.post(path, ["after_id": elsewhere]).faults == ["tasks"])
      let across: [[String: any Sendable]] = [["id": id, "position": 1], ["id": elsewhere, "position": 2]]
      #expect(try await alice.post("/api/v1/lists/\(list)/tasks/reorder", ["tasks": across]).faults == ["tasks"])
      #expect(try await alice.post("/api/v1/tasks/reorder", ["tasks": across]).status == 200)
      #expect(try await alice.post("/api/v1/tasks/reorder", ["tasks": [Int]()]).faults == ["tasks"])
      let seen = alice.with(["If-Match": try await alice.get("/api/v1/tasks/\(id)").tag])
      let retitled = try await alice.patch("/api/v1/tasks/\(id)", ["task": ["title": "Tea"]])
      #expect(try await seen.post(path, ["after_id": NSNull()]).status == 412)
      #expect(try await alice.with(["If-Match": retitled.tag]).post(path, ["after_id": NSNull()]).status == 200)
      let version = try #require(try await alice.get("/api/v1/tasks/\(id)").object("task").int("version"))
      #expect(try await alice.post("/api/v1/tasks/reorder", one(id, 3, version: version)).status == 200)
      let late = try await alice.post("/api/v1/tasks/reorder", one(id, 4, version: version))
      #expect(late.status == 412 && late.string("code") == "precondition_failed")
      let unknown = ["tasks": [["id": 999_999, "position": 1]]]
      #expect(try await alice.post("/api/v1/tasks/reorder", unknown).status == 404)
    }
  }
}

/// Reordering a list with the maximum number of tasks.
@Suite struct WholeOrderTests {
  @Test(arguments: engines) func aWholeListIsReorderedInFewStatements(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let (list, other) = (try await alice.makeList(), try await alice.makeList("Other"))
      let first = try await alice.makeTask(list, "0")
      let elsewhere = try await alice.makeTask(other)
      let database = try await stack.testDatabase.open("lists", [])
      try await database.write { db in
        try db.change(
          """
          insert into task (list_id, title, words, status, priority, starred, strict_mode, position, revision,
            created_at, updated_at)
          with recursive counted (n) as (select 1 union all select n + 1 from counted where n < \(List.tasksMax - 1))
          select t.list_id, 'task', 'task', 'pending', 0, t.starred, t.strict_mode, n * 100000, t.revision, t.created_at,
            t.updated_at from counted, task t where t.id = \(first)
          """)
        return
      }
      let ids = try await database.read { db in
        try db.rows("select id from task where list_id = \(list) order by id desc").map {
          try $0.get("id", as: Int.self)
        }
      }
      #expect(ids.count == List.tasksMax)
      let moves = ids.enumerated().map { ["id": $1, "position": $0] }
      let path = "/api/v1/lists/\(list)/tasks/reorder"
      let before = try await alice.get("/api/v1/lists").string("cursor")
      #expect(try await alice.with(["Idempotency-Key": "k1"]).post(path, ["tasks": moves]).status == 200)
      func order() async throws -> [Int] {
        try await database.read { db in
          try db.rows("select id from task where list_id = \(list) order by position, id").map { try $0.get("id") }
        }
      }
      #expect(try await order() == ids)
      #expect(try await alice.get("/api/v1/lists?since=\(before)").objects("lists").count == 1)
      // Reverses the order again, by the path for several lists and with a task of another list.
      let back = ids.reversed().enumerated().map { ["id": $1, "position": $0] }
      let all = Array(back.dropFirst()) + [["id": elsewhere, "position": 7]]
      #expect(try await alice.patch("/api/v1/tasks/reorder", ["tasks": all]).status == 200)
      // The task that was not moved keeps its position, and the one moved to that position is directly behind it.
      let reversed = Array(ids.reversed())
      #expect(try await order() == Array(reversed[1..<ids.count - 1]) + [reversed[0], ids[0]])
      let many = moves + [["id": elsewhere, "position": 1]]
      #expect(try await alice.post(path, ["tasks": many]).faults == ["tasks"])

      let (statements, user) = (StatementCounter(), try await alice.get("/api/v1/auth/me").string("id"))
      let alices = try #require(UserID(user))
      try await database.write { connection in
        let db = CountingConnection(connection, statements)
        _ = try TaskOrderStore.lists(of: ids, for: alices, on: db)
        let moves = ids.enumerated().map { TaskOrder.Move(id: $1, destination: .at(Double($0))) }
        try TaskOrderStore.move(moves, of: list, by: alices, at: Date(), on: db)
      }
      #expect(statements.count < 30)
      await database.close()
    }
  }
}

/// Counts statements.
private final class StatementCounter: Sendable {
  private let counted = Mutex(0)

  var count: Int { counted.withLock { $0 } }

  func add() { counted.withLock { $0 += 1 } }
}

private struct CountingConnection: Connection {
  private let connection: any Connection
  private let statements: StatementCounter

  init(_ connection: any Connection, _ statements: StatementCounter) {
    self.connection = connection
    self.statements = statements
  }

  func rows(_ sql: SQL) throws -> [Row] {
    statements.add()
    return try connection.rows(sql)
  }

  func change(_ sql: SQL) throws -> Int {
    statements.add()
    return try connection.change(sql)
  }
}
