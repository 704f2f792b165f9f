import Foundation
import NIOHTTP1
import Support
import Wire

@testable import Lists

extension Calls {
  func listCalls() async throws {
    let (alice, bob) = (try await signIn(2), try await signIn(4))
    let browser = alice.browser
    for path in [
      "/api/v1/lists", "/api/v1/lists?page=1&per_page=5", "/api/v1/tasks", "/api/v1/tasks?assigned_to=me&per_page=5",
      "/api/v1/tasks?assigned_to=u3@example.com", "/api/v1/tasks?assigned_to=3", "/api/v1/tasks?status=pending",
      "/api/v1/tasks?overdue=true", "/api/v1/tasks?tag_id=3", "/api/v1/tasks/search?q=task", "/api/v1/today",
      "/api/v1/tags",
    ] { try await browser.ok(.GET, path) }
    let tag = try await browser.ok(.POST, "/api/v1/tags", ["tag": ["name": "Plans"]]).id(in: "tag")
    try await browser.ok(.GET, "/api/v1/tags/\(tag)")
    let made = try await browser.ok(.POST, "/api/v1/lists", body("list", ["name": "Plans", "tag_ids": [tag]]))
    let list = made.id(in: "list")
    try await browser.ok(.PATCH, "/api/v1/lists/\(list)", body("list", ["name": "Plan", "tag_ids": [tag]]))
    try await browser.ok(.GET, "/api/v1/lists/\(list)")
    let cursor = try await browser.ok(.GET, "/api/v1/lists").string("cursor")
    try await taskCalls(alice, list, tag)
    try await memberCalls(alice, bob, list)
    let friends = try await browser.ok(.GET, "/api/v1/friends")["friends"] as? [[String: Any]] ?? []
    try await browser.ok(.DELETE, "/api/v1/friends/\(friends.first?["id"] as? Int ?? 0)")
    try await largeListCalls(alice)
    try await browser.ok(.PATCH, "/api/v1/tags/\(tag)", ["tag": ["name": "Plans 2"]])
    try await browser.ok(.DELETE, "/api/v1/tags/\(tag)")
    try await browser.ok(.DELETE, "/api/v1/lists/\(list)")
    try await browser.ok(.GET, "/api/v1/lists?since=\(cursor)")
    let lists = inside(stack.lists, as: "invites")
    try await lists.ok(
      .POST, "/internal/lists/relations", encoding: RelationsQuery(user: bob.id, others: [alice.id]))
    try await lists.ok(.GET, "/internal/lists/2/members/\(alice.id)")
    let events = inside(stack.lists, as: "events")
    try await events.ok(.GET, "/internal/topics/access?topic=lists:2&user_id=\(alice.id)")
    try await events.ok(.GET, "/internal/topics?user_id=\(alice.id)")
    try await events.ok(.GET, "/internal/topics/readers?topic=lists:2")
    try await reminderCalls()
    try await inside(stack.lists, as: "auth").ok(.GET, "/internal/users/\(alice.id)/data")
  }

  private func reminderCalls() async throws {
    // The service itself looks at those that are due.
    let later = stack.clock.now + 86_400
    try await withDatabase(of: "lists") { database in
      try await database.write { db in
        _ = try ReminderStore.nextCheck(on: db)
        for reminder in try ReminderStore.due(at: later, limit: 5, on: db) {
          guard let task = try ReminderStore.set(reminder, to: nil, on: db) else { continue }
          _ = try ReminderStore.recipient(of: task, on: db)
          try ReminderStore.set(nil as Date?, of: task.id, on: db)
        }
      }
    }
  }

  private func taskCalls(_ alice: SignedInUser, _ list: Int, _ tag: Int) async throws {
    let (browser, path) = (alice.browser, "/api/v1/lists/\(list)/tasks")
    let now = RFC3339.milliseconds(stack.clock.now)
    let tomorrow = RFC3339.milliseconds(stack.clock.now + 86_400)
    func make(_ title: String, _ more: [String: any Sendable] = [:]) async throws -> Int {
      try await browser.ok(.POST, path, ["task": ["title": title].merging(more) { $1 }]).id(in: "task")
    }
    let first = try await make("One", ["client_id": "one", "tag_ids": [tag], "due_at": now])
    try await browser.ok(.POST, path, ["task": ["title": "One", "client_id": "one"]])
    let second = try await make("Two")
    let cursor = try await browser.ok(.GET, path).string("cursor")
    let task = "/api/v1/tasks/\(first)"
    let below = try await browser.ok(.POST, "\(task)/subtasks", ["subtask": ["title": "Below"]]).id(in: "subtask")
    try await browser.ok(.POST, "\(task)/subtasks", ["subtask": ["title": "Below 2"]])
    try await make("Below 3", ["parent_task_id": first])
    for (method, path, body) in [
      (.GET, "\(task)/subtasks", nil), (.GET, "\(task)/subtasks/\(below)", nil),
      (.PATCH, "\(task)/subtasks/\(below)", ["subtask": ["title": "Changed", "note": "Longer"]]),
      (.POST, "\(task)/subtasks/\(below)/complete", [:]), (.POST, "\(task)/subtasks/\(below)/reopen", [:]),
      (.POST, "/api/v1/tasks/\(below)/reorder", ["position": 2]),
      (.DELETE, "\(task)/subtasks/\(below)", nil), (.GET, task, nil),
      (.PATCH, task, body("task", ["title": "Changed", "tag_ids": [tag]])),
      (.POST, "\(task)/assign", ["assigned_to": "u2@example.com"]), (.POST, "\(task)/unassign", [:]),
      (.POST, "\(task)/reassign", ["new_due_at": tomorrow, "reason": "later"]), (.POST, "\(task)/complete", [:]),
      (.POST, "\(task)/reopen", [:]), (.POST, "\(task)/reorder", ["after_id": second]),
      (.POST, "\(task)/complete", ["reason": "done"]),
    ] as [(HTTPMethod, String, [String: any Sendable]?)] { try await browser.ok(method, path, body) }
    try await browser.ok(.POST, "/api/v1/tasks/reorder", ["tasks": [["id": second, "position": 1] as [String: Int]]])
    let daily = try await make("Daily", ["recurrence_pattern": "daily", "due_at": now])
    try await browser.ok(.POST, "/api/v1/tasks/\(daily)/subtasks", ["subtask": ["title": "A part"]])
    try await browser.ok(.POST, "/api/v1/tasks/\(daily)/complete")
    try await browser.ok(.GET, "\(path)?since=\(cursor)")
    try await browser.ok(.GET, "\(path)?page=1&per_page=2")
    try await browser.ok(.GET, "/api/v1/tasks?per_page=5")
    try await browser.ok(.DELETE, task)
  }

  private func memberCalls(_ alice: SignedInUser, _ bob: SignedInUser, _ list: Int) async throws {
    let (browser, path) = (alice.browser, "/api/v1/lists/\(list)/memberships")
    // They share a generated list; bob may be addressed.
    try await browser.ok(
      .POST, path, ["membership": ["user_identifier": "u3@example.com", "role": "viewer"]])
    try await browser.ok(.POST, path, ["membership": ["user_identifier": "stranger@example.com", "role": "viewer"]])
    try await browser.ok(.GET, path)
    let invites = inside(stack.lists, as: "invites")
    let now = stack.clock.now
    let join = JoinList(
      inviteID: InviteID.new(at: now).description, claimID: .new(at: now), invitedBy: alice.id, madeAt: now,
      role: "editor")
    for _ in 0..<2 { try await invites.ok(.PUT, "/internal/lists/\(list)/members/\(bob.id)", encoding: join) }
    let task = try await browser.ok(.POST, "/api/v1/lists/\(list)/tasks", ["task": ["title": "Bob's"]]).id(in: "task")
    try await browser.ok(.POST, "/api/v1/tasks/\(task)/assign", ["assigned_to": "u4@example.com"])
    try await browser.ok(.POST, "/api/v1/tasks/\(task)/nudge")
    try await browser.refused(.POST, "/api/v1/tasks/\(task)/nudge")
    let members = try await browser.ok(.GET, path)["memberships"] as? [[String: Any]] ?? []
    for member in members {
      let id = (member["id"] as? NSNumber)?.intValue ?? 0
      try await browser.ok(.PATCH, "\(path)/\(id)", ["membership": ["role": "editor"]])
      try await browser.ok(.DELETE, "\(path)/\(id)")
    }
    // Hers among those of others when her account is deleted.
    let his = try await bob.browser.ok(.POST, "/api/v1/lists", ["list": ["name": "Bob's"]]).id(in: "list")
    try await bob.browser.ok(
      .POST, "/api/v1/lists/\(his)/memberships",
      ["membership": ["user_identifier": "u2@example.com", "role": "editor"]])
    try await browser.ok(.POST, "/api/v1/lists/\(his)/tasks", ["task": ["title": "Alice's"]])
  }

  /// A list with more tasks than are sent at once.
  private func largeListCalls(_ alice: SignedInUser) async throws {
    let list = try await alice.browser.ok(.POST, "/api/v1/lists", ["list": ["name": "Large"]]).id(in: "list")
    for number in 0..<120 {
      try await alice.browser.ok(.POST, "/api/v1/lists/\(list)/tasks", ["task": ["title": "Task \(number)"]])
    }
    try await alice.browser.ok(.GET, "/api/v1/lists/\(list)/tasks")
    try await alice.browser.ok(.GET, "/api/v1/lists/\(list)")
  }
}
