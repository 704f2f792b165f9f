import Database
import Foundation
import Support
import Testing
import Wire

@testable import Timepoints

extension Calls {
  func timepointCalls() async throws {
    let user = try await signIn(3)
    let browser = user.browser
    let admin = stack.timepoints.with(["X-Admin-Key": TestStack.adminKey])
    try await stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
      .ok(.POST, "/api/v1/credits/admin/grant", ["user_id": user.id.description, "amount": 1000])
    let made = try await browser.ok(.POST, "/api/v1/timepoints/generate/sync", ["query": "The first flight"])
    let path = "/api/v1/timepoints/\(made.string("id"))"
    for query in ["", "?status=completed", "?visibility=private", "?status=failed&visibility=public"] {
      try await browser.ok(.GET, "/api/v1/timepoints\(query)")
      try await stack.gateway.ok(.GET, "/api/v1/timepoints\(query)")
      try await browser.ok(.GET, "/api/v1/users/me/timepoints\(query)")
    }
    for suffix in ["", "/characters", "/events"] { try await browser.ok(.GET, "\(path)\(suffix)") }
    try await browser.ok(.GET, "/api/v1/timepoints/slug/\(made.string("slug"))")
    try await browser.ok(.PATCH, "\(path)/visibility", ["visibility": "private"])
    try await admin.ok(.GET, "/internal/timepoints/failed")
    try await interactionCalls(browser, made)
    try await browser.ok(.POST, "/api/v1/temporal/\(made.string("id"))/next")
    try await browser.ok(.GET, "/api/v1/temporal/\(made.string("id"))/sequence")
    try await browser.ok(.DELETE, path)
    try await browser.ok(.DELETE, "\(path)?permanent=true")
    try await inside(stack.timepoints, as: "auth").ok(.GET, "/internal/users/\(user.id)/data")
    try await timepointStoreCalls(of: user.id)
    try await inside(stack.timepoints, as: "auth").ok(.DELETE, "/internal/users/\(user.id)/data")
  }

  private func interactionCalls(_ browser: Browser, _ made: Browser.Reply) async throws {
    let path = "/api/v1/interactions/\(made.string("id"))"
    let people = made.object("characters")["characters"] as? [[String: Any]] ?? []
    let name = people.first?["name"] as? String ?? ""
    let saved = try await browser.ok(
      .POST, "\(path)/chat", ["character": name, "message": "Hello", "save_session": true])
    let session = saved.string("session_id")
    try await browser.with(["Idempotency-Key": "once"])
      .ok(.POST, "\(path)/chat", ["character": name, "message": "Go on", "session_id": session])
    try await browser.ok(.GET, "/api/v1/interactions/sessions/\(made.string("id"))")
    try await browser.ok(.GET, "/api/v1/interactions/session/\(session)")
    try await browser.ok(.DELETE, "/api/v1/interactions/session/\(session)")
  }

  /// What happens to generations that fail and to charges that nobody settles.
  private func timepointStoreCalls(of user: UserID) async throws {
    try await withDatabase(of: "timepoints") { database in
      let now = stack.clock.now
      let (id, failure) = (TimepointID.new(at: now), StoredFailure(.unavailable))
      let new = NewTimepoint(
        id: id, owner: user, input: GenerationInput(query: "a moment", preset: .balanced, wantsImage: false),
        visibility: .public, operation: "generate_balanced", isCharged: true)
      let charge = Charge(
        id: ChargeID(id.uuid), user: user, operation: "chat", reference: id, lifetimeSeconds: 60)
      try await database.write { db in
        try new.insert(at: now, on: db)
        try GenerationJobStore.insert(new.job(at: now), activeMax: 0, at: now, on: db)
        try GenerationJobStore.recordFailure(of: id, failure, on: db)
        try TimepointStore.fail(id, failure, at: now, on: db)
        try TimepointStore.recordBlob(id, folder: "folder", at: now, on: db)
        try GenerationJobStore.end(id, of: user, at: now, on: db)
        try ChargeStore.open(charge, at: now, due: now + 3600, on: db)
        _ = try ChargeStore.decide(charge.id, .void, due: now, on: db)
        _ = try ChargeStore.isEarned(charge.id, on: db)
        try ChargeStore.delete(charge.id, on: db)
        _ = try ChargeStore.sweep(before: now - 86_400, limit: 100, on: db)
      }
    }
  }
}
