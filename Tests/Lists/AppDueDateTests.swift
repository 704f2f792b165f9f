import Database
import Foundation
import Support
import Testing
import Wire

/// The fields of tasks that are due, overdue or rescheduled, as the app decodes them.
@Suite struct AppDueDateTests {
  @Test(arguments: engines) func movesOfADueDateAreShown(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice").browser, try await stack.signIn("bob").browser)
      let list = try await alice.makeList()
      try await alice.share(list, with: "bob")
      let task = try await alice.makeTask(list, "Call", ["due_at": "2030-01-01T10:00:00Z"])
      for day in 2...25 {
        let move = ["new_due_at": "2030-01-\(day < 10 ? "0" : "")\(day)T10:00:00-02:30", "reason": "blocked"]
        #expect(try await bob.post("/api/v1/tasks/\(task)/reschedule", move).status == 200)
      }
      for path in ["/api/v1/tasks/\(task)", "/api/v1/lists/\(list)/tasks"] {
        let reply = try await alice.get(path)
        let read =
          try path.hasSuffix("tasks")
          ? reply.read(ListsApp.Tasks.self).tasks[0] : reply.read(ListsApp.OneTask.self).task
        let events = try #require(read.reschedule_events)
        #expect(events.count == 20 && events.map(\.id) == events.map(\.id).sorted())
        let last = try #require(events.last)
        #expect(last.original_due_at == "2030-01-24T12:30:00.000Z" && last.new_due_at == "2030-01-25T12:30:00.000Z")
        #expect(last.reason == "blocked" && last.task_id == task && last.rescheduled_by?.name == "bob")
      }
    }
  }

  @Test(arguments: engines) func whoIsLateSaysWhyWhereThatIsWanted(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      let late = RFC3339.milliseconds(stack.clock.now - 3600)
      let wants: [String: any Sendable] = ["due_at": late, "requires_explanation_if_missed": true]
      let task = "/api/v1/tasks/\(try await alice.makeTask(list, "Pills", wants))"
      #expect(try await alice.get(task).read(ListsApp.OneTask.self).task.minutes_overdue == 60)
      #expect(try await alice.post("\(task)/complete").faults == ["missed_reason"])
      #expect(try await alice.patch(task, body("task", ["status": "done"])).faults == ["missed_reason"])
      let done = try await alice.patch("\(task)/complete", ["missed_reason": "I was ill"])
        .read(ListsApp.OneTask.self).task
      #expect(done.status == "done" && done.missed_reason == "I was ill" && done.missed_reason_submitted_at != nil)
      // The task was late by the device's clock, so the app has asked for an explanation.
      let early = "/api/v1/tasks/\(try await alice.makeTask(list, "Tea", ["due_at": "2090-01-01T00:00:00Z"]))"
      let said = try await alice.patch("\(early)/complete", ["missed_reason": "Asleep"])
        .read(ListsApp.OneTask.self).task
      #expect(said.missed_reason == "Asleep")
      let taken = try await alice.put(early, body("task", ["missed_reason": NSNull()])).read(ListsApp.OneTask.self).task
      #expect(taken.missed_reason == nil && taken.missed_reason_submitted_at == nil)
      let after = try await alice.patch("\(early)/complete", ["missed_reason": "Later"])
        .read(ListsApp.OneTask.self).task
      #expect(after.missed_reason == "Later")
    }
  }

  @Test(arguments: engines) func todayIsWhereTheUserIsNow(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice").browser
      let list = try await alice.makeList()
      _ = try await alice.makeTask(list, "Late", ["due_at": RFC3339.milliseconds(stack.clock.now - 60)])
      let first = try await alice.get("/api/v1/today")
      #expect(first.string("timezone") == "UTC")
      #expect(try first.read(ListsApp.Today.self).overdue.map(\.title) == ["Late"])
      for name in ["UTC", "GMT"] {
        #expect(try await alice.get("/api/v1/today?timezone=\(name)").string("timezone") == "UTC")
      }
      for zone in ["Pacific/Kiritimati", "Pacific/Pago_Pago"] {
        #expect(try await alice.patch("/api/v1/users/profile", ["user": ["timezone": zone]]).status == 200)
        let today = try await alice.get("/api/v1/today")
        #expect(today.string("timezone") == zone)
        #expect(today.string("date") == Self.day(stack.clock.now, zone))
      }
    }
  }

  private static func day(_ now: Date, _ zone: String) -> String? {
    TimeZone(identifier: zone).map { zone in
      let local = now + Double(zone.secondsFromGMT(for: now))
      return String(RFC3339.seconds(local).prefix(10))
    }
  }
}
