import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Lists

/// Reminders of tasks that are due soon.
@Suite struct ReminderTests {
  /// Of lists whose owner is in this time zone.
  @Test(arguments: [
    // An hour before.
    ("2026-11-21T17:00:00Z", "Europe/Oslo", "2026-11-21T16:00:00Z"),
    ("2026-11-21T22:58:00Z", "Europe/Oslo", "2026-11-21T21:58:00Z"),
    // The end of a day, there and not elsewhere: at nine of its morning.
    ("2026-11-21T22:59:00Z", "Europe/Oslo", "2026-11-21T08:00:00Z"),
    ("2026-11-21T23:00:00Z", "Europe/Oslo", "2026-11-21T08:00:00Z"),
    ("2026-11-21T23:00:00Z", "UTC", "2026-11-21T22:00:00Z"),
    ("2026-11-22T04:59:59Z", "America/New_York", "2026-11-21T14:00:00Z"),
    // The clocks change in the night before.
    ("2026-03-29T21:59:00Z", "Europe/Oslo", "2026-03-29T07:00:00Z"),
    ("2026-10-25T23:00:00Z", "Europe/Oslo", "2026-10-25T08:00:00Z"),
  ]) func itComesBeforeTheTaskIsDue(dueAt: String, zone: String, expected: String) throws {
    let due = try #require(RFC3339.parse(dueAt))
    let time = ReminderTime.time(dueAt: due, in: try #require(TimeZone(identifier: zone)))
    #expect(RFC3339.seconds(time) == expected)
    #expect(time > due - ReminderTime.leadSeconds && time < due)
  }

  /// A time at which a task may be due that is not near the end of a day, at least three hours from now.
  private func due(_ stack: TestStack) -> Date {
    Date(timeIntervalSince1970: (stack.clock.now.timeIntervalSince1970 / 3600).rounded(.down) * 3600 + 4 * 3600 + 1800)
  }

  private func reminders(_ receiver: EventsReceiver) -> [FeedEvent] {
    receiver.events.filter { $0.name == "task_due_soon" }
  }

  @Test(arguments: engines) func oneComesOverAllReplicas(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.makeList()
      _ = try await alice.browser.share(list, with: "bob")
      let due = due(stack)
      let fields: [String: any Sendable] = ["due_at": RFC3339.milliseconds(due)]
      var tasks: [Int] = []
      for title in ["Milk", "Bread", "Done", "Deleted", "Moved", "Hidden"] {
        let hidden: [String: any Sendable] = title == "Hidden" ? ["hidden": true] : [:]
        tasks.append(try await alice.browser.makeTask(list, title, fields.merging(hidden) { $1 }))
      }
      #expect(
        try await alice.browser.post("/api/v1/tasks/\(tasks[0])/assign", ["assigned_to": "bob@example.com"])
          .status == 200)
      #expect(try await alice.browser.post("/api/v1/tasks/\(tasks[2])/complete").status == 200)
      #expect(try await alice.browser.delete("/api/v1/tasks/\(tasks[3])").status < 300)
      let later = ["due_at": RFC3339.milliseconds(due + 7200), "reason": "later"]
      #expect(try await alice.browser.post("/api/v1/tasks/\(tasks[4])/reschedule", later).status == 200)
      // Two more replicas with the same database.
      let replicas = [
        try await buildLists(stack.dependencies(of: "lists")), try await buildLists(stack.dependencies(of: "lists")),
      ]
      try await running(replicas) {
        try await eventually("all were looked at") {
          try await stack.count("task where remind_at = \(due - 3600)", in: "lists") == 3
        }
        stack.clock.move(to: due - 3660)
        try await Task.sleep(for: .milliseconds(2500))
        #expect(reminders(receiver).isEmpty)
        stack.clock.move(to: due - 3599)
        try await eventually("the reminders") { reminders(receiver).count == 3 }
        // Longer than all replicas take to look again.
        try await Task.sleep(for: .milliseconds(2500))
      }
      let found = Dictionary(grouping: reminders(receiver)) { $0.payload["task_id"] }
      #expect(Set(found.keys) == [.integer(tasks[0]), .integer(tasks[1]), .integer(tasks[5])])
      #expect(found.values.allSatisfy { $0.count == 1 })
      let assigned = try #require(found[.integer(tasks[0])]?.first)
      #expect(assigned.topics == ["users:\(bob.id)"] && assigned.payload["due"] == .string("soon"))
      #expect(assigned.push?.subject == "Milk" && assigned.push?.expiresAt == due)
      #expect(found[.integer(tasks[1])]?.first?.topics == ["users:\(alice.id)"])
      #expect(found[.integer(tasks[5])]?.first?.push?.subject == nil)
      // The one that was moved comes later.
      stack.clock.move(to: due + 3601)
      try await eventually("the last reminder") { reminders(receiver).count == 4 }
      #expect(reminders(receiver).last?.payload["task_id"] == .integer(tasks[4]))
      #expect(try await stack.count("task where remind_at is not null", in: "lists") == 0)
    }
  }

  @Test(arguments: engines) func theDayIsThatOfTheOwner(engine: Engine) async throws {
    try await withEvents(of: engine) { stack, receiver in
      var alice = try await stack.signIn("alice")
      let zone = try #require(TimeZone(identifier: "Pacific/Auckland"))
      #expect(
        try await alice.browser.patch("/api/v1/users/profile", ["timezone": zone.identifier]).status == 200)
      let list = try await alice.browser.makeList()
      // At the end of the day after tomorrow, there.
      let day = try #require(CalendarDay(stack.clock.now, in: zone).adding(2))
      let due = day.at(86_340, in: zone)
      _ = try await alice.browser.makeTask(list, "Milk", ["due_at": RFC3339.milliseconds(due)])
      stack.clock.move(to: day.at(8 * 3600 + 1800, in: zone))
      try await Task.sleep(for: .milliseconds(2500))
      #expect(reminders(receiver).isEmpty)
      stack.clock.move(to: day.at(9 * 3600 + 1, in: zone))
      try await eventually("the reminder") { reminders(receiver).count == 1 }
      #expect(reminders(receiver).first?.payload["due"] == .string("today"))
      // Whoever writes a task on its day needs no reminder of it; one that is due in the evening is still to come.
      alice = try await stack.signIn("alice")
      _ = try await alice.browser.makeTask(list, "Bread", ["due_at": RFC3339.milliseconds(due)])
      _ = try await alice.browser.makeTask(list, "Soon", ["due_at": RFC3339.milliseconds(stack.clock.now + 1800)])
      let evening = day.at(20 * 3600, in: zone)
      _ = try await alice.browser.makeTask(list, "Tea", ["due_at": RFC3339.milliseconds(evening)])
      try await eventually("all were looked at") {
        let waiting = try await stack.count("task where remind_at is not null", in: "lists")
        let known = try await stack.count("task where remind_at = \(evening - 3600)", in: "lists")
        return waiting == 1 && known == 1
      }
      stack.clock.move(to: evening - 3590)
      try await eventually("the second reminder") { reminders(receiver).count == 2 }
      #expect(reminders(receiver).last?.push?.subject == "Tea")
    }
  }

  @Test(arguments: engines) func tasksFromBeforeAreLookedAtOnce(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let now = Date().wholeMilliseconds
      let name = "reminders of tasks that are due soon"
      let earlier = Array(listsMigrations.prefix { $0.name != name })
      #expect(earlier.count < listsMigrations.count)
      let old = try await testDatabase.open("lists", earlier)
      try await old.write { db in
        let list = try db.row(
          """
          insert into list (owner_id, name, visibility, color, created_at, updated_at)
          values (\(UserID.new(at: now)), 'List', 'private', 'blue', \(now), \(now)) returning id
          """)?.get("id", as: Int.self)
        for (dueAt, completedAt) in [(now + 86_400, nil), (now + 86_400, now), (nil, nil)] as [(Date?, Date?)] {
          try db.change(
            """
            insert into task (list_id, title, words, due_at, status, completed_at, priority, starred, strict_mode,
              position, revision, created_at, updated_at)
            values (\(list), 'Task', '', \(dueAt), \(completedAt == nil ? "pending" : "done"), \(completedAt), 0,
              \(false), \(false), 1, 1, \(now), \(now))
            """)
        }
      }
      await old.close()
      let new = try await testDatabase.open("lists", listsMigrations)
      let due = try await new.read { db in try ReminderStore.due(at: now, limit: 10, on: db) }
      #expect(due.map(\.dueAt) == [now + 86_400])
      // It is put off to its time.
      let outcome = due.first?.outcome(at: now, in: .gmt)
      #expect(outcome?.isDue == false && (outcome?.next).map { $0 > now } == true)
      await new.close()
    }
  }
}
