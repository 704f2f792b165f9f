import Foundation
import Testing

@testable import KithClient

/// The client sends what the API's documents show.
@Suite struct RequestSampleTests {
  @Test func shareLinks() async throws {
    try await expectRequest("POST", "/collections/col_123/invites", #"{"role": "VIEW_ONLY"}"#) {
      _ = try await $0.invites.createShareLink(to: "col_123")
    }
    try await expectRequest("GET", "/invites/resolve?token=inv_abcd1234", isBearer: false) {
      _ = try await $0.invites.resolve(token: "inv_abcd1234")
    }
    try await expectRequest("POST", "/invites/inv_123/accept", "{}") { _ = try await $0.invites.accept("inv_123") }
    try await expectRequest("POST", "/invites/inv_123/reject", "{}") { _ = try await $0.invites.reject("inv_123") }
    try await expectRequest("PATCH", "/collections/c/members/m", #"{"role": "EDITOR"}"#) {
      _ = try await $0.collections.change("m", of: "c", to: .editor)
    }
  }

  @Test func groupsAndInvites() async throws {
    try await expectRequest("POST", "/api/invites/check-users", #"{"phone_numbers": ["+14155552671"]}"#) {
      _ = try await $0.invites.check(["+14155552671"])
    }
    let user = ContactCheck.User(phoneNumber: "+14155552671", userID: "u", firstName: "Kim")
    try await expectRequest(
      "POST", "/api/invites/send",
      """
      {"group_id": "g", "phone_numbers": ["+4915112345678"],
       "existing_users": [{"user_id": "u", "phone_number": "+14155552671"}]}
      """
    ) { _ = try await $0.invites.send(to: "g", phoneNumbers: ["+4915112345678"], adding: [user]) }
    try await expectRequest("POST", "/api/invites/redeem", #"{"invite_code": "ABC123"}"#) {
      _ = try await $0.invites.redeem("ABC123")
    }
    try await expectRequest("GET", "/api/invites/pending/g") { _ = try await $0.invites.pending(in: "g") }
    try await expectRequest(
      "POST", "/api/auth/verify/confirm", #"{"phone_number": "+1", "code": "123456", "first_name": "Kim"}"#,
      isBearer: false
    ) { _ = try await $0.auth.signIn(phoneNumber: "+1", code: "123456", firstName: "Kim") }
    try await expectRequest(
      "POST", "/api/groups", #"{"name": "Us", "member_phone_numbers": ["+1"], "time_zone": "UTC"}"#
    ) { _ = try await $0.groups.create(name: "Us", inviting: ["+1"], timeZone: .gmt) }
    try await expectRequest(
      "POST", "/api/devices/register", #"{"device_token": "abab", "platform": "ios", "timezone": "UTC"}"#
    ) { try await $0.notifications.registerDevice(token: Data([0xAB, 0xAB]), timeZone: .gmt) }
  }

  @Test func listsAndTasks() async throws {
    try await expectRequest("GET", "/api/v1/lists") { _ = try await $0.lists.all() }
    try await expectRequest(
      "POST", "/api/v1/lists", #"{"list": {"name": "New List", "description": "List description"}}"#
    ) { _ = try await $0.lists.create(name: "New List", description: "List description") }
    try await expectRequest("GET", "/api/v1/lists/1/tasks") { _ = try await $0.tasks.all(in: 1) }
    try await expectRequest(
      "POST", "/api/v1/lists/1/memberships", #"{"membership": {"user_identifier": "a@b.c", "role": "editor"}}"#
    ) { _ = try await $0.lists.add("a@b.c", to: 1, as: .editor) }
    try await expectRequest(
      "POST", "/api/v1/lists/1/tasks",
      #"{"task": {"title": "Milk", "note": "Oat", "due_at": "2025-10-14T21:12:03.000Z", "client_id": "x"}}"#
    ) {
      let fields = TaskFields(title: "Milk", note: "Oat", dueAt: Date(timeIntervalSince1970: 1_760_476_323))
      _ = try await $0.tasks.create(fields, in: 1, clientID: "x")
    }
    try await expectRequest("POST", "/api/v1/tasks/7/complete", #"{"missed_reason": "Ill"}"#) {
      _ = try await $0.tasks.complete(7, missedReason: "Ill")
    }
  }

  @Test func adventurePlansAndPlaces() async throws {
    try await expectRequest(
      "POST", "/rest/v1/adventure_plans",
      """
      {"title": "Weekend Adventure", "description": "A fun weekend trip", "stops": [{"name": "Coffee Shop",
       "address": "123 Main St", "latitude": 37.7749, "longitude": -122.4194}]}
      """
    ) {
      let stop = AdventurePlan.Stop(
        name: "Coffee Shop", address: "123 Main St", at: Coordinate(latitude: 37.7749, longitude: -122.4194))
      _ = try await $0.adventures.createPlan(
        title: "Weekend Adventure", description: "A fun weekend trip", stops: [stop])
    }
    try await expectRequest(
      "PATCH", "/rest/v1/adventure_plans?id=eq.a", #"{"title": "Updated Adventure", "status": "active"}"#
    ) { _ = try await $0.adventures.changePlan("a", title: "Updated Adventure", status: .active) }
    try await expectRequest("DELETE", "/rest/v1/adventure_plans?id=eq.a") { try await $0.adventures.deletePlan("a") }
    try await expectRequest(
      "POST", "/rest/v1/saved_places",
      """
      {"name": "Favorite Coffee Shop", "address": "123 Main St, San Francisco, CA", "latitude": 37.7749,
       "longitude": -122.4194, "category": "coffee"}
      """
    ) {
      _ = try await $0.adventures.savePlace(
        name: "Favorite Coffee Shop", address: "123 Main St, San Francisco, CA",
        at: Coordinate(latitude: 37.7749, longitude: -122.4194), category: "coffee")
    }
    try await expectRequest("DELETE", "/rest/v1/saved_places?id=eq.p") { try await $0.adventures.deletePlace("p") }
  }

  @Test func socialGroupsHuntsAndArrivals() async throws {
    try await expectRequest(
      "POST", "/rest/v1/social_groups",
      #"{"name": "Weekend Warriors", "description": "Adventure group for weekend trips"}"#
    ) {
      _ = try await $0.adventures.createSocialGroup(
        name: "Weekend Warriors", description: "Adventure group for weekend trips")
    }
    try await expectRequest("POST", "/rest/v1/social_groups/join", #"{"invite_code": "ABC123"}"#) {
      _ = try await $0.adventures.joinSocialGroup(code: "ABC123")
    }
    try await expectRequest("GET", "/rest/v1/group_members?group_id=eq.g&order=joined_at") {
      _ = try await $0.adventures.members(ofSocialGroup: "g")
    }
    try await expectRequest(
      "POST", "/rest/v1/scavenger_hunts",
      """
      {"title": "City Scavenger Hunt", "description": "Explore the city", "group_id": "uuid", "checkpoints": [
       {"title": "Find the Red Door", "description": "Look for a red door on Main Street", "location":
        {"latitude": 37.7749, "longitude": -122.4194}, "photo_required": true, "points": 20}]}
      """
    ) {
      let door = ScavengerHunt.NewCheckpoint(
        title: "Find the Red Door", description: "Look for a red door on Main Street",
        location: Coordinate(latitude: 37.7749, longitude: -122.4194), photoRequired: true, points: 20)
      _ = try await $0.adventures.createHunt(
        title: "City Scavenger Hunt", description: "Explore the city", in: "uuid", checkpoints: [door])
    }
    try await expectRequest("POST", "/rest/v1/scavenger_hunts/h/join") { try await $0.adventures.joinHunt("h") }
    try await expectRequest(
      "PATCH", "/rest/v1/scavenger_hunts?id=eq.h", #"{"status": "active", "start_time": "2024-01-01T10:00:00.000Z"}"#
    ) {
      _ = try await $0.adventures.changeHunt(
        "h", to: .active, startingAt: Date(timeIntervalSince1970: 1_704_103_200))
    }
    try await expectRequest(
      "POST", "/rest/v1/checkpoint_submissions", #"{"checkpoint_id": "c", "photo_url": "https://a.example/p.jpg"}"#
    ) { _ = try await $0.adventures.submit("c", photo: "https://a.example/p.jpg") }
    try await expectRequest("GET", "/rest/v1/hunt_leaderboard?hunt_id=eq.h") {
      _ = try await $0.adventures.leaderboard(of: "h")
    }
    try await expectRequest(
      "POST", "/rest/v1/eta_shares",
      """
      {"route_data": {"origin": {"latitude": 37.7749}, "distance": 5.2, "duration": 1800},
       "recipients": ["uuid1", "uuid2"], "expires_at": "2024-01-01T16:00:00.000Z"}
      """
    ) {
      _ = try await $0.adventures.shareArrival(
        route: ["origin": ["latitude": 37.7749], "distance": 5.2, "duration": 1800], with: ["uuid1", "uuid2"],
        until: Date(timeIntervalSince1970: 1_704_124_800))
    }
    try await expectRequest("GET", "/rest/v1/eta_shares?is_active=eq.true") { _ = try await $0.adventures.arrivals() }
  }

  @Test func signingInAndCredits() async throws {
    try await expectRequest(
      "POST", "/api/v1/auth/apple", #"{"identity_token": "t", "nonce": "n"}"#, isBearer: false
    ) { try await $0.auth.signInWithApple(identityToken: "t", nonce: AppleNonce(raw: "n")) }
    try await expectRequest("DELETE", "/api/v1/auth/account") { try await $0.auth.deleteAccount() }
    try await expectRequest("GET", "/api/v1/credits/costs", isBearer: false) { _ = try await $0.credits.costs() }
    try await expectRequest("GET", "/api/v1/credits/history?limit=20&offset=0") { _ = try await $0.credits.history() }
  }
}
