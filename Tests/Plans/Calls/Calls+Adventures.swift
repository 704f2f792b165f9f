import Database
import Foundation
import NIOHTTP1
import Support
import Wire

@testable import Adventures

extension Calls {
  func adventureCalls() async throws {
    let (alice, bob) = (try await signIn(31), try await signIn(32))
    try await tableCalls(alice)
    let hunt = try await huntCalls(alice, bob)
    try await departureCalls(alice, bob)
    try await shareCalls(alice, bob)
    for name in ["health_check", "health_check_detailed", "get_system_metrics"] {
      try await alice.browser.ok(.GET, "/rest/v1/rpc/\(name)")
    }
    try await stack.adventures.bearing(alice.access).with(["X-Admin-Key": TestStack.adminKey])
      .ok(.GET, "/rest/v1/rpc/get_system_metrics")
    let events = inside(stack.adventures, as: "events")
    for topic in ["scavenger_hunts", "checkpoint_submissions"] {
      try await events.ok(.GET, "/internal/topics/access?topic=\(topic):\(hunt)&user_id=\(alice.id)")
    }
    try await events.ok(.GET, "/internal/topics?user_id=\(alice.id)")
    let groups = inside(stack.adventures, as: "groups")
    try await groups.ok(
      .POST, "/internal/adventures/blocks", encoding: ChangedBlock(one: alice.id, other: bob.id))
    try await groups.ok(
      .POST, "/internal/adventures/shown-photo",
      ["photo": "photos/\(bob.id)/1.jpg", "viewer": alice.id.description])
    let now = stack.clock.now
    try await withDatabase(of: "adventures") { database in
      _ = try await database.write { db in try HuntEndStore.end(at: now, on: db) }
      _ = try await database.write { db in try ParticipantNames.lock([alice.id, bob.id], on: db) }
    }
    let auth = inside(stack.adventures, as: "auth")
    try await auth.ok(.GET, "/internal/users/\(alice.id)/data")
    try await auth.ok(.DELETE, "/internal/users/\(alice.id)/data")
    // Alice's hunts had photos of others.
    let photos: SQL = "outbox where kind = 'submission_photos' and outcome = 'done'"
    try await eventually("the end of the photos") { try await stack.count(photos, in: "adventures") > 0 }
    try await auth.ok(.DELETE, "/internal/users/\(bob.id)/data")
  }

  private func tableCalls(_ alice: SignedInUser) async throws {
    let plan = try await made(alice, "adventure_plans", ["title": "Plan"])
    try await alice.browser.ok(.GET, "/rest/v1/adventure_plans?user_id=eq.\(alice.id)")
    try await alice.browser.ok(.PATCH, "/rest/v1/adventure_plans?id=eq.\(plan)", ["title": "Other"])
    try await alice.browser.ok(.DELETE, "/rest/v1/adventure_plans?id=eq.\(plan)")
    let place = try await made(alice, "saved_places", ["name": "Place"])
    try await alice.browser.ok(.GET, "/rest/v1/saved_places?user_id=eq.\(alice.id)&order=created_at.desc&limit=5")
    try await alice.browser.ok(.DELETE, "/rest/v1/saved_places?id=eq.\(place)")
  }

  private func huntCalls(_ alice: SignedInUser, _ bob: SignedInUser) async throws -> String {
    let checkpoints: [[String: any Sendable]] = [["title": "One"], ["title": "Two"]]
    let hunt = try await made(alice, "scavenger_hunts", ["title": "Hunt", "checkpoints": checkpoints])
    let third = try await made(alice, "hunt_checkpoints", ["hunt_id": hunt, "title": "Three"])
    try await alice.browser.ok(.PATCH, "/rest/v1/hunt_checkpoints?id=eq.\(third)", ["points": 5])
    try await alice.browser.ok(.DELETE, "/rest/v1/hunt_checkpoints?id=eq.\(third)")
    let started = try await alice.browser.ok(.PATCH, "/rest/v1/scavenger_hunts?id=eq.\(hunt)", ["status": "active"])
    let code = started.list.first?["invite_code"] as? String ?? ""
    try await bob.browser.refused(.POST, "/rest/v1/scavenger_hunts/join", ["invite_code": "NOTACODE"])
    try await bob.browser.ok(.POST, "/rest/v1/scavenger_hunts/join", ["invite_code": code])
    try await bob.browser.ok(.POST, "/rest/v1/scavenger_hunts/\(hunt)/join")
    for table in ["hunt_checkpoints", "hunt_participants", "hunt_leaderboard"] {
      try await bob.browser.ok(.GET, "/rest/v1/\(table)?hunt_id=eq.\(hunt)")
    }
    try await bob.browser.ok(.GET, "/rest/v1/scavenger_hunts?select=*,hunt_checkpoints(*)")
    let checkpoint = try await bob.browser.ok(.GET, "/rest/v1/hunt_checkpoints?hunt_id=eq.\(hunt)&limit=1")
    let id = checkpoint.list.first?["id"] as? String ?? ""
    let photo = "https://kith.example/storage/v1/object/photos/\(bob.id)/1.jpg"
    let submission = try await made(bob, "checkpoint_submissions", ["checkpoint_id": id, "photo_url": photo])
    try await bob.browser.ok(.GET, "/rest/v1/checkpoint_submissions?checkpoint_id=eq.\(id)")
    try await alice.browser.ok(.PATCH, "/rest/v1/checkpoint_submissions?id=eq.\(submission)", ["verified": true])
    try await bob.browser.ok(.DELETE, "/rest/v1/hunt_participants?hunt_id=eq.\(hunt)")
    let draft = try await made(alice, "scavenger_hunts", ["title": "Draft"])
    try await alice.browser.ok(.DELETE, "/rest/v1/scavenger_hunts?id=eq.\(draft)")
    return hunt
  }

  /// Bob is removed from a group with two hunts, and takes part in one of them.
  private func departureCalls(_ alice: SignedInUser, _ bob: SignedInUser) async throws {
    let row = try await alice.browser.ok(.POST, "/rest/v1/social_groups", ["name": "Hunters"]).list.first
    guard let group = row?["id"] as? String, let code = row?["invite_code"] as? String else {
      throw Unexpected(reply: "no group")
    }
    try await bob.browser.ok(.POST, "/rest/v1/social_groups/join", ["invite_code": code])
    // Ends what is cached of both.
    let departures = "/internal/groups/\(group)/departures"
    let groups = inside(stack.adventures, as: "groups")
    try await groups.ok(.POST, departures, encoding: ChangedMemberships(users: [alice.id, bob.id]))
    let hunt = try await made(alice, "scavenger_hunts", ["title": "Theirs", "group_id": group])
    _ = try await made(alice, "scavenger_hunts", ["title": "Next", "group_id": group])
    // As when he has just joined.
    try await groups.ok(.POST, departures, encoding: ChangedMemberships(users: [bob.id]))
    try await bob.browser.ok(.POST, "/rest/v1/scavenger_hunts/\(hunt)/join")
    try await alice.browser.ok(.DELETE, "/rest/v1/group_members?group_id=eq.\(group)&user_id=eq.\(bob.id)")
    try await groups.ok(.POST, departures, encoding: ChangedMemberships(users: [bob.id]))
    try await alice.browser.ok(.DELETE, "/rest/v1/social_groups?id=eq.\(group)")
  }

  private func shareCalls(_ alice: SignedInUser, _ bob: SignedInUser) async throws {
    let route: [String: any Sendable] = ["duration": 60]
    for _ in 0..<2 {
      let share = try await made(
        alice, "eta_shares",
        ["route_data": route, "recipients": ["\(bob.id)"], "expires_at": RFC3339.seconds(stack.clock.now + 3600)])
      try await bob.browser.ok(.GET, "/rest/v1/eta_shares?is_active=eq.true")
      try await alice.browser.ok(.PATCH, "/rest/v1/eta_shares?id=eq.\(share)", ["is_active": true])
      try await alice.browser.ok(.DELETE, "/rest/v1/eta_shares?id=eq.\(share)")
    }
    _ = try await made(
      alice, "eta_shares",
      ["route_data": route, "recipients": ["\(bob.id)"], "expires_at": RFC3339.seconds(stack.clock.now + 3600)])
  }

  private func made(_ user: SignedInUser, _ table: String, _ body: [String: any Sendable]) async throws -> String {
    try await user.browser.ok(.POST, "/rest/v1/\(table)", body).list.first?["id"] as? String ?? ""
  }
}
