import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Lists

/// For a user with 100,000 tasks on a hundred lists, among other users, no statement scans a whole table.
@Suite struct QueryPlanTests {
  @Test(arguments: engines) func noStatementHasToLookThroughAWholeTable(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open("lists", listsMigrations)
      let (alice, bob, carol) = (UserID.new(at: Date()), UserID.new(at: Date()), UserID.new(at: Date()))
      try await database.write { db in
        try insertLists(db, alice, lists: 100, tasks: 1000)
        try insertLists(db, bob, lists: 20, tasks: 1000)
        try insertLists(db, carol, lists: 1, tasks: 1000)
        try insertOtherUsers(db)
        try db.change("analyze")
      }
      let (first, own) = try await database.read { db in (try firstList(of: alice, db), try firstList(of: carol, db)) }
      let (plans, free) = (RecordedPlans(), RecordedPlans())
      // A single list is a hundredth of the table, where the planner chooses the index by itself.
      let isOfOneList = { @Sendable (text: String) in text.contains("list_id = $") && !text.contains("union all") }
      let began = ContinuousClock.now
      try await database.read { connection in
        try runQueries(PlannedConnection(connection, engine, plans, mayScan: isOfOneList), alice, first, lists: 100)
      }
      try await database.write { connection in
        try runChanges(PlannedConnection(connection, engine, plans, mayScan: isOfOneList), alice, first)
      }
      let took = ContinuousClock.now - began
      // For a user with one list the planner is not restricted: it may scan small tables where that is faster.
      try await database.read { connection in
        try runQueries(PlannedConnection(connection, engine, free, mayScan: { _ in true }), carol, own, lists: 1)
      }
      await database.close()
      #expect(plans.all.count > 30 && free.all.count > 15)
      for (statement, plan) in plans.all where plan.contains(where: isScan) {
        Issue.record("\(statement)\n\(plan.joined(separator: "\n"))")
      }
      for (statement, plan) in free.all where plan.contains(where: isScanOfTasks) {
        Issue.record("\(statement)\n\(plan.joined(separator: "\n"))")
      }
      // Each of some forty statements is planned and executed: a wide margin for a busy machine.
      #expect(took < .seconds(60))
    }
  }

  /// Whether a step of a plan scans a whole table.
  private func isScan(_ step: String) -> Bool {
    step.contains("Seq Scan on") || step.hasPrefix("SCAN ") && isTable(step)
  }

  private func isScanOfTasks(_ step: String) -> Bool { isScan(step) && !step.contains(/Seq Scan on (?!task )/) }

  private func isTable(_ step: String) -> Bool {
    let name = step.split(separator: " ").dropFirst().first ?? ""
    // Other names than these tables and their aliases are common table expressions or subqueries of the statement.
    return [
      "list", "membership", "task", "task_event", "task_tag", "tag", "invite_use", "removal", "completion_day",
      "named_people", "list_tag", "matching", "joined", "parent", "subtask",
    ].contains(name)
  }

  private func firstList(of user: UserID, _ db: any Connection) throws -> Int {
    try db.row("select min(id) as id from list where owner_id = \(user)")?.get("id") ?? 0
  }

  private func runQueries(_ db: any Connection, _ user: UserID, _ list: Int, lists: Int) throws {
    let now = Date()
    #expect(try (ListDetails.allIfFew(of: user, at: now, on: db)?.count ?? lists) == lists)
    let ids = try ListStore.revisions(of: user, on: db).map { try $0.get("id", as: Int.self) }
    let details = try ListDetails.withIDs(Array(ids.prefix(16)), of: user, at: now, on: db)
    #expect(ids.count == lists && details[0].list.taskCount == 1000)
    let others = Set((0..<500).map { _ in UserID.new(at: now) })
    #expect(try SharedLists.people(with: user, among: others, on: db).isEmpty)
    #expect(try MembershipStore.users(in: list, on: db) == [user])
    let one = try ListStore.list(list, for: user, on: db)
    let tasks = try TaskDetails.all(of: one, on: db)
    #expect(tasks.count == 1000)
    _ = try ListDetails.one(one, for: user, at: now, on: db)
    _ = try TaskSelection.changes(of: one, since: TasksCursor(list: list, revision: 990), limit: 500, on: db)
    let selection = try TaskSelection.page(nil, of: one, on: db).0
    #expect(selection.chunks.flatMap(\.self) == tasks.map(\.task.id))
    #expect(try TaskDetails.withIDs(selection.chunks[0], of: one, on: db).map(\.task.id) == selection.chunks[0])
    #expect(try TaskDetails.withIDs(selection.chunks[0], for: user, on: db).map(\.task.id) == selection.chunks[0])
    #expect(try SharedLists.people(with: user, on: db).contains(user))
    let task = try #require(tasks.first?.task.id)
    _ = try TaskDetails.one(TaskReference(id: task), for: user, on: db)
    _ = try TaskEventStore.events(of: task, on: db)
    _ = try Today(LocalDay(now, in: .gmt), of: user, at: now, on: db)
    _ = try Streak.of(user, today: "2026-11-21", on: db)
    #expect(try TaskSearch.hits(with: "task 77", for: user, on: db).count == min(50, 11 * lists))
    var none = RequestFields()
    let filter = TaskFilter(&none, assignee: nil)
    #expect(try filter.page(1, of: 25, for: user, at: now, on: db).count == 26)
    _ = try TagStore.tags(of: user, on: db)
  }

  private func runChanges(_ db: any Connection, _ alice: UserID, _ list: Int) throws {
    let (now, actingUser) = (Date(), ActingUser(user: alice, timeZone: .gmt))
    var fields = RequestFields(["title": .string("New"), "client_id": .string("new"), "tag_ids": .array([])])
    let new = TaskChange(&fields)
    guard case .created(let id) = try TaskStore.create(new, in: list, by: actingUser, at: now, on: db) else { return }
    try TaskStore.change(TaskReference(id: id), by: actingUser, at: now, on: db) {
      try $0.completed(by: alice, at: now)
    }
    try TaskOrderStore.move([.init(id: id, destination: .after(nil))], of: list, by: alice, at: now, on: db)
    try TaskStore.change(TaskReference(id: id), by: actingUser, at: now, on: db) {
      $0.deleted(by: alice, reason: nil, at: now)
    }
    try completeRecurringTask(db, alice, list, actingUser, now)
    let member = UserID.new(at: now)
    let added = try MembershipStore.add(member, to: list, as: .editor, at: now, on: db)
    if let added { try MembershipStore.remove(added, by: alice, at: now, on: db) }
    var name = RequestFields(["name": .string("Tag")])
    let tag = try TagStore.create(TagChange(&name), of: alice, at: now, on: db)
    try ListTagStore.set([tag.tag.id], on: list, by: alice, on: db)
    _ = try db.rows(ListTagStore.query(on: [list]))
    var other = RequestFields(["name": .string("Other")])
    try TagStore.change(tag.tag.id, of: alice, to: TagChange(&other), at: now, on: db)
    try TagStore.delete(tag.tag.id, of: alice, at: now, on: db)
    while try PersonalDataErasure.leaveNextList(member, at: now, on: db) {}
    try PersonalDataErasure.eraseRemainingData(of: member, at: now, on: db)
    _ = try PersonalDataExport(of: member, on: db)
  }
}

/// Creates, reschedules and completes a recurring task.
private func completeRecurringTask(
  _ db: any Connection, _ alice: UserID, _ list: Int, _ actingUser: ActingUser, _ now: Date
) throws {
  var fields = RequestFields([
    "title": .string("Again"), "recurrence_pattern": .string("daily"),
    "due_at": .string(RFC3339.milliseconds(now)), "strict_mode": .bool(false),
  ])
  let change = TaskChange(&fields)
  guard case .created(let id) = try TaskStore.create(change, in: list, by: actingUser, at: now, on: db) else { return }
  let reference = TaskReference(id: id)
  try TaskStore.change(reference, by: actingUser, at: now, on: db) {
    try $0.reassigned(to: now + 60, by: alice, reason: nil, at: now)
  }
  #expect(try TaskDetails.one(reference, for: alice, on: db).reschedules.count == 1)
  try TaskStore.change(reference, by: actingUser, at: now, on: db) { try $0.completed(by: alice, at: now) }
  #expect(try db.row("select id from task where previous_id = \(id)") != nil)
  #expect(try TaskOrderStore.lists(of: [id], for: alice, on: db) == [id: list])
}

/// Inserts lists of a user with tasks: a third of these completed, a third overdue.
private func insertLists(_ db: any Connection, _ user: UserID, lists: Int, tasks: Int) throws {
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

/// Inserts many other users, each with a list, a member and a tag on a task.
private func insertOtherUsers(_ db: any Connection) throws {
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
      try MembershipStore.remove(gone, by: gone.user, at: now, on: db)
      try DepartureStore.record(gone, by: owner, at: now, on: db)
    }
    var fields = RequestFields(["name": .string("Tag \(number)")])
    _ = try TagStore.create(TagChange(&fields), of: owner, at: now, on: db)
  }
  // Every tag is set on a task and on a list.
  try db.change("insert into list_tag (list_id, tag_id) select l.id, g.id from tag g join list l on l.id = g.id")
  try db.change("insert into task_tag (task_id, tag_id) select t.id, g.id from tag g join task t on t.id = g.id")
}
