import Foundation
import Support
import Synchronization
import Testing
import Web
import Wire

@testable import Database
@testable import Lists

/// A person with 100,000 tasks on a hundred lists, beside others: no statement looks through a whole table.
@Suite struct PlanTests {
  @Test(arguments: engines) func noStatementHasToLookThroughAWholeTable(engine: Engine) async throws {
    try await withPlace(engine) { place in
      let database = try await place.open("lists", listsMigrations)
      let (alice, bob, carol) = (UserID.new(at: Date()), UserID.new(at: Date()), UserID.new(at: Date()))
      try await database.write { db in
        try fill(db, alice, lists: 100, tasks: 1000)
        try fill(db, bob, lists: 20, tasks: 1000)
        try fill(db, carol, lists: 1, tasks: 1000)
        try crowd(db)
        try db.change("analyze")
      }
      let (first, own) = try await database.read { db in (try firstList(of: alice, db), try firstList(of: carol, db)) }
      let (plans, free) = (Plans(), Plans())
      let began = ContinuousClock.now
      try await database.read { connection in
        try look(PlannedConnection(connection, engine, plans), alice, first, lists: 100)
      }
      try await database.write { connection in try change(PlannedConnection(connection, engine, plans), alice, first) }
      let took = ContinuousClock.now - began
      // Somebody with one list, planned as the engine likes: it reads small tables whole where that is faster.
      try await database.read { connection in
        try look(PlannedConnection(connection, engine, free, isFree: true), carol, own, lists: 1)
      }
      await database.close()
      #expect(plans.all.count > 30 && free.all.count > 15)
      for (statement, plan) in plans.all where plan.contains(where: isScan) {
        Issue.record("\(statement)\n\(plan.joined(separator: "\n"))")
      }
      for (statement, plan) in free.all where plan.contains(where: isScanOfTasks) {
        Issue.record("\(statement)\n\(plan.joined(separator: "\n"))")
      }
      // Each of some forty statements twice, once to be planned: a wide margin for a busy machine.
      #expect(took < .seconds(20))
    }
  }

  /// Whether a step of a plan reads a whole table.
  private func isScan(_ step: String) -> Bool {
    step.contains("Seq Scan on") || step.hasPrefix("SCAN ") && isTable(step)
  }

  private func isScanOfTasks(_ step: String) -> Bool { isScan(step) && !step.contains(/Seq Scan on (?!task )/) }

  private func isTable(_ step: String) -> Bool {
    let name = step.split(separator: " ").dropFirst().first ?? ""
    // What is not a table of this service, by its name or by what it is called in a statement, is made in the statement.
    return [
      "list", "membership", "task", "task_event", "task_tag", "tag", "invite_use", "removal", "completion_day",
      "named_people", "list_tag", "n", "l", "m", "t", "c", "o", "g", "ol", "e", "j",
    ].contains(name)
  }

  private func firstList(of user: UserID, _ db: any Connection) throws -> Int {
    try db.row("select min(id) as id from list where owner_id = \(user)")?.get("id") ?? 0
  }

  private func look(_ db: any Connection, _ user: UserID, _ list: Int, lists: Int) throws {
    let now = Date()
    #expect(try (ListView.few(of: user, at: now, on: db)?.count ?? lists) == lists)
    let ids = try ListStore.revisions(of: user, on: db).map { try $0.get("id", as: Int.self) }
    let views = try ListView.some(Array(ids.prefix(16)), of: user, at: now, on: db)
    #expect(ids.count == lists && views[0].list.taskCount == 1000)
    let others = Set((0..<500).map { _ in UserID.new(at: now) })
    #expect(try SharedLists.people(with: user, among: others, on: db).isEmpty)
    #expect(try MembershipStore.everybody(in: list, on: db) == [user])
    let one = try ListStore.list(list, for: user, on: db)
    let tasks = try TaskView.all(of: one, on: db)
    #expect(tasks.count == 1000)
    _ = try ListView.one(one, for: user, at: now, on: db)
    _ = try TaskPlan.changes(of: one, since: TasksCursor(list: list, revision: 990), limit: 500, on: db)
    let plan = try TaskPlan.page(nil, of: one, on: db).0
    #expect(plan.pieces.flatMap(\.self) == tasks.map(\.task.id))
    #expect(try TaskView.some(plan.pieces[0], of: one, on: db).map(\.task.id) == plan.pieces[0])
    #expect(try TaskView.some(plan.pieces[0], for: user, on: db).map(\.task.id) == plan.pieces[0])
    #expect(try SharedLists.people(with: user, on: db).contains(user))
    let task = try #require(tasks.first?.task.id)
    _ = try TaskView.one(TaskPlace(id: task), for: user, on: db)
    _ = try TaskTrail.events(of: task, on: db)
    _ = try Today(Day(now, in: .gmt), of: user, at: now, on: db)
    _ = try Streak.of(user, today: "2026-11-21", on: db)
    #expect(try TaskSearch.hits(with: "task 77", for: user, on: db).count == min(50, 11 * lists))
    var none = Fields()
    let filter = TaskFilter(&none, assignee: nil)
    #expect(try filter.page(1, of: 25, for: user, at: now, on: db).count == 26)
    _ = try TagStore.tags(of: user, on: db)
  }

  private func change(_ db: any Connection, _ alice: UserID, _ list: Int) throws {
    let (now, doer) = (Date(), Doer(user: alice, zone: .gmt))
    var fields = Fields(["title": .string("New"), "client_id": .string("new"), "tag_ids": .array([])])
    let new = TaskChange(&fields)
    guard case .new(let id) = try TaskStore.create(new, in: list, by: doer, at: now, on: db) else { return }
    try TaskStore.change(TaskPlace(id: id), by: doer, at: now, on: db) { try $0.completed(by: alice, at: now) }
    try TaskOrderStore.move([.init(id: id, place: .after(nil))], of: list, by: alice, on: db)
    try TaskStore.change(TaskPlace(id: id), by: doer, at: now, on: db) { $0.deleted(by: alice, reason: nil, at: now) }
    try again(db, alice, list, doer, now)
    let member = UserID.new(at: now)
    let added = try MembershipStore.add(member, to: list, as: .editor, at: now, on: db)
    if let added { try MembershipStore.remove(added, on: db) }
    var name = Fields(["name": .string("Tag")])
    let tag = try TagStore.create(TagChange(&name), of: alice, at: now, on: db)
    try ListTagStore.set([tag.tag.id], on: list, by: alice, on: db)
    _ = try db.rows(ListTagStore.query(on: [list]))
    var other = Fields(["name": .string("Other")])
    try TagStore.change(tag.tag.id, of: alice, to: TagChange(&other), at: now, on: db)
    try TagStore.delete(tag.tag.id, of: alice, on: db)
    while try Erasure.leaveNextList(member, on: db) {}
    try Erasure.forgetTheRest(of: member, on: db)
    _ = try Export(of: member, on: db)
  }
}

/// A recurring task that is moved and done.
private func again(_ db: any Connection, _ alice: UserID, _ list: Int, _ doer: Doer, _ now: Date) throws {
  var fields = Fields([
    "title": .string("Again"), "recurrence_pattern": .string("daily"),
    "due_at": .string(Instant.milliseconds(now)), "strict_mode": .bool(false),
  ])
  let change = TaskChange(&fields)
  guard case .new(let id) = try TaskStore.create(change, in: list, by: doer, at: now, on: db) else { return }
  let place = TaskPlace(id: id)
  try TaskStore.change(place, by: doer, at: now, on: db) {
    try $0.reassigned(to: now + 60, by: alice, reason: nil, at: now)
  }
  #expect(try TaskView.one(place, for: alice, on: db).reschedules.count == 1)
  try TaskStore.change(place, by: doer, at: now, on: db) { try $0.completed(by: alice, at: now) }
  #expect(try db.row("select id from task where previous_id = \(id)") != nil)
  #expect(try TaskOrderStore.lists(of: [id], for: alice, on: db) == [id: list])
}

/// Lists of a person with tasks on them: a third of these done, a third late.
private func fill(_ db: any Connection, _ user: UserID, lists: Int, tasks: Int) throws {
  let now = Date()
  for list in 0..<lists {
    let row = try db.row(
      """
      insert into list (owner_id, name, visibility, color, task_count, completed_count, revision, created_at, updated_at)
      values (\(user), \("List \(list)"), 'private', 'blue', \(tasks), 333, \(tasks), \(now), \(now)) returning id
      """)
    let id = try row?.get("id", as: Int.self) ?? 0
    try db.change(
      """
      insert into task (list_id, creator_id, title, words, status, completed_at, due_at, priority, starred, strict_mode,
        position, revision, created_at, updated_at)
      with recursive counted (n) as (select 1 union all select n + 1 from counted where n < \(tasks))
      select l.id, l.owner_id, 'Task ' || n, 'task ' || n, case when n % 3 = 0 then 'done' else 'pending' end,
        case when n % 3 = 0 then l.created_at end, case when n % 3 = 1 then l.created_at end, 0, false, false,
        n * 65536, n, l.created_at, l.created_at
      from counted, list l where l.id = \(id)
      """)
  }
}

/// Many others, each with a list, a member and a tag on somebody's task.
private func crowd(_ db: any Connection) throws {
  let now = Date()
  for number in 0..<3000 {
    let (owner, member) = (UserID.new(at: now), UserID.new(at: now))
    let row = try db.row(
      """
      insert into list (owner_id, name, visibility, color, created_at, updated_at)
      values (\(owner), 'List', 'private', 'blue', \(now), \(now)) returning id
      """)
    let id = try row?.get("id", as: Int.self) ?? 0
    _ = try MembershipStore.add(member, to: id, as: .editor, at: now, on: db)
    if let gone = try MembershipStore.add(.new(at: now), to: id, as: .viewer, at: now, on: db) {
      try MembershipStore.remove(gone, on: db)
      try Removals.note(gone, by: owner, at: now, on: db)
    }
    var fields = Fields(["name": .string("Tag \(number)")])
    _ = try TagStore.create(TagChange(&fields), of: owner, at: now, on: db)
  }
  // Every tag is on a task and on a list.
  try db.change("insert into list_tag (list_id, tag_id) select l.id, g.id from tag g join list l on l.id = g.id")
  try db.change("insert into task_tag (task_id, tag_id) select t.id, g.id from tag g join task t on t.id = g.id")
}

/// What the engine says that it would do for each statement.
private final class Plans: Sendable {
  private let plans = Mutex<[String: [String]]>([:])

  var all: [String: [String]] { plans.withLock { $0 } }

  func add(_ plan: [String], for statement: String) { plans.withLock { $0[statement] = plan } }
}

/// A connection that asks for the plan of each statement before it runs it.
private struct PlannedConnection: Connection {
  private let connection: any Connection
  private let engine: Engine
  private let plans: Plans
  /// Whether the engine may read a whole table where it has an index.
  private let isFree: Bool

  init(_ connection: any Connection, _ engine: Engine, _ plans: Plans, isFree: Bool = false) {
    self.connection = connection
    self.engine = engine
    self.plans = plans
    self.isFree = isFree
  }

  func rows(_ sql: SQL) throws -> [Row] {
    try plan(sql)
    return try connection.rows(sql)
  }

  func change(_ sql: SQL) throws -> Int {
    try plan(sql)
    return try connection.change(sql)
  }

  private func plan(_ sql: SQL) throws {
    guard sql.text.hasPrefix("select") || sql.text.hasPrefix("update") || sql.text.hasPrefix("delete") else { return }
    var words = SQL.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
    words.text = (engine == .sqlite ? "explain query plan " : "explain ") + sql.text
    words.bindings = sql.bindings
    let column = engine == .sqlite ? "detail" : "QUERY PLAN"
    // A person who has most of a table gets a scan because it is faster: what is asked is whether it takes one.
    // One list is a hundredth of it: there the engine takes the index because it is faster.
    let isOfOneList = sql.text.contains("list_id = $") && !sql.text.contains("union all")
    let isForced = engine == .postgres && !isFree && !isOfOneList
    if isForced { try connection.change("set local enable_seqscan = off") }
    plans.add(try connection.rows(SQL(stringInterpolation: words)).map { try $0.get(column) }, for: sql.text)
    if isForced { try connection.change("set local enable_seqscan = on") }
  }
}
