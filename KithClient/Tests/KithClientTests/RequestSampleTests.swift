import Foundation
import Testing

@testable import KithClient

/// The client sends what the API's documents show.
@Suite struct RequestSampleTests {
  /// Runs a call whose answer does not matter, and compares what it has sent.
  private func expect(
    _ method: String, _ target: String, _ body: String? = nil, isBearer: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation, _ call: (KithClient) async throws -> Void
  ) async throws {
    let (client, transport) = try await KithClient.scripted { _, _ in .refusal(418, "no_answer") }
    await #expect(throws: KithFailure.self, sourceLocation: sourceLocation) { try await call(client) }
    let request = try #require(transport.requests.first, sourceLocation: sourceLocation)
    #expect(request.method == method, sourceLocation: sourceLocation)
    let query = request.url.query.map { "?" + ($0.removingPercentEncoding ?? "") } ?? ""
    #expect(request.url.path + query == target, sourceLocation: sourceLocation)
    #expect((request.headers["Authorization"] == "Bearer a.b.c") == isBearer, sourceLocation: sourceLocation)
    #expect((request.headers["Idempotency-Key"] == nil) == (method == "GET"), sourceLocation: sourceLocation)
    guard let body else { return }
    guard case .data(let sent) = request.body else {
      Issue.record("no body", sourceLocation: sourceLocation)
      return
    }
    #expect(request.headers["Content-Type"] == "application/json", sourceLocation: sourceLocation)
    let (received, shown) = (try Self.json(sent), try Self.json(Data(body.utf8)))
    #expect(received == shown, sourceLocation: sourceLocation)
  }

  private static func json(_ data: Data) throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: data) }

  @Test func shareLinks() async throws {
    try await expect("POST", "/collections/col_123/invites", #"{"role": "VIEW_ONLY"}"#) {
      _ = try await $0.invites.createShareLink(to: "col_123")
    }
    try await expect("GET", "/invites/resolve?token=inv_abcd1234", isBearer: false) {
      _ = try await $0.invites.resolve(token: "inv_abcd1234")
    }
    try await expect("POST", "/invites/inv_123/accept", "{}") { _ = try await $0.invites.accept("inv_123") }
    try await expect("POST", "/invites/inv_123/reject", "{}") { _ = try await $0.invites.reject("inv_123") }
    try await expect("PATCH", "/collections/c/members/m", #"{"role": "EDITOR"}"#) {
      _ = try await $0.collections.change("m", of: "c", to: .editor)
    }
  }

  @Test func groupsAndInvites() async throws {
    try await expect("POST", "/api/invites/check-users", #"{"phone_numbers": ["+14155552671"]}"#) {
      _ = try await $0.invites.check(["+14155552671"])
    }
    let user = ContactCheck.User(phoneNumber: "+14155552671", userID: "u", firstName: "Kim")
    try await expect(
      "POST", "/api/invites/send",
      """
      {"group_id": "g", "phone_numbers": ["+4915112345678"],
       "existing_users": [{"user_id": "u", "phone_number": "+14155552671"}]}
      """
    ) { _ = try await $0.invites.send(to: "g", phoneNumbers: ["+4915112345678"], adding: [user]) }
    try await expect("POST", "/api/invites/redeem", #"{"invite_code": "ABC123"}"#) {
      _ = try await $0.invites.redeem("ABC123")
    }
    try await expect("GET", "/api/invites/pending/g") { _ = try await $0.invites.pending(in: "g") }
    try await expect(
      "POST", "/api/auth/verify/confirm", #"{"phone_number": "+1", "code": "123456", "first_name": "Kim"}"#,
      isBearer: false
    ) { _ = try await $0.auth.signIn(phoneNumber: "+1", code: "123456", firstName: "Kim") }
    try await expect(
      "POST", "/api/groups", #"{"name": "Us", "member_phone_numbers": ["+1"], "time_zone": "UTC"}"#
    ) { _ = try await $0.groups.create(name: "Us", inviting: ["+1"], timeZone: .gmt) }
    try await expect(
      "POST", "/api/devices/register", #"{"device_token": "abab", "platform": "ios"}"#
    ) { try await $0.groups.registerDevice(token: Data([0xAB, 0xAB])) }
  }

  @Test func listsAndTasks() async throws {
    try await expect("GET", "/api/v1/lists") { _ = try await $0.lists.all() }
    try await expect(
      "POST", "/api/v1/lists", #"{"list": {"name": "New List", "description": "List description"}}"#
    ) { _ = try await $0.lists.create(name: "New List", description: "List description") }
    try await expect("GET", "/api/v1/lists/1/tasks") { _ = try await $0.tasks.all(in: 1) }
    try await expect(
      "POST", "/api/v1/lists/1/memberships", #"{"membership": {"user_identifier": "a@b.c", "role": "editor"}}"#
    ) { _ = try await $0.lists.add("a@b.c", to: 1, as: .editor) }
    try await expect(
      "POST", "/api/v1/lists/1/tasks",
      #"{"task": {"title": "Milk", "note": "Oat", "due_at": "2025-10-14T21:12:03.000Z", "client_id": "x"}}"#
    ) {
      let fields = TaskFields(title: "Milk", note: "Oat", dueAt: Date(timeIntervalSince1970: 1_760_476_323))
      _ = try await $0.tasks.create(fields, in: 1, clientID: "x")
    }
    try await expect("POST", "/api/v1/tasks/7/complete", #"{"missed_reason": "Ill"}"#) {
      _ = try await $0.tasks.complete(7, missedReason: "Ill")
    }
  }

  @Test func adventurePlansAndPlaces() async throws {
    try await expect(
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
    try await expect(
      "PATCH", "/rest/v1/adventure_plans?id=eq.a", #"{"title": "Updated Adventure", "status": "active"}"#
    ) { _ = try await $0.adventures.changePlan("a", title: "Updated Adventure", status: .active) }
    try await expect("DELETE", "/rest/v1/adventure_plans?id=eq.a") { try await $0.adventures.deletePlan("a") }
    try await expect(
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
    try await expect("DELETE", "/rest/v1/saved_places?id=eq.p") { try await $0.adventures.deletePlace("p") }
  }

  @Test func socialGroupsHuntsAndArrivals() async throws {
    try await expect(
      "POST", "/rest/v1/social_groups",
      #"{"name": "Weekend Warriors", "description": "Adventure group for weekend trips"}"#
    ) {
      _ = try await $0.adventures.createSocialGroup(
        name: "Weekend Warriors", description: "Adventure group for weekend trips")
    }
    try await expect("POST", "/rest/v1/social_groups/join", #"{"invite_code": "ABC123"}"#) {
      _ = try await $0.adventures.joinSocialGroup(code: "ABC123")
    }
    try await expect("GET", "/rest/v1/group_members?group_id=eq.g&order=joined_at") {
      _ = try await $0.adventures.members(ofSocialGroup: "g")
    }
    try await expect(
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
    try await expect("POST", "/rest/v1/scavenger_hunts/h/join") { try await $0.adventures.joinHunt("h") }
    try await expect(
      "PATCH", "/rest/v1/scavenger_hunts?id=eq.h", #"{"status": "active", "start_time": "2024-01-01T10:00:00.000Z"}"#
    ) {
      _ = try await $0.adventures.changeHunt(
        "h", to: .active, startingAt: Date(timeIntervalSince1970: 1_704_103_200))
    }
    try await expect(
      "POST", "/rest/v1/checkpoint_submissions", #"{"checkpoint_id": "c", "photo_url": "https://a.example/p.jpg"}"#
    ) { _ = try await $0.adventures.submit("c", photo: "https://a.example/p.jpg") }
    try await expect("GET", "/rest/v1/hunt_leaderboard?hunt_id=eq.h") {
      _ = try await $0.adventures.leaderboard(of: "h")
    }
    try await expect(
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
    try await expect("GET", "/rest/v1/eta_shares?is_active=eq.true") { _ = try await $0.adventures.arrivals() }
  }

  @Test func signInAndTimepoints() async throws {
    try await expect(
      "POST", "/api/v1/auth/apple", #"{"identity_token": "t", "nonce": "n"}"#, isBearer: false
    ) { try await $0.auth.signInWithApple(identityToken: "t", nonce: AppleNonce(raw: "n")) }
    try await expect("DELETE", "/api/v1/auth/account") { try await $0.auth.deleteAccount() }
    try await expect("GET", "/api/v1/credits/costs", isBearer: false) { _ = try await $0.credits.costs() }
    try await expect("GET", "/api/v1/credits/history?limit=20&offset=0") { _ = try await $0.credits.history() }
    var request = TimepointRequest("My private moment")
    request.visibility = .private
    let body =
      #"{"query": "My private moment", "visibility": "private", "generate_image": false, "preset": "balanced"}"#
    try await expect("POST", "/api/v1/timepoints/generate", body) { _ = try await $0.timepoints.generate(request) }
    try await expect("POST", "/api/v1/timepoints/generate/sync", body) {
      _ = try await $0.timepoints.generateAndWait(request)
    }
    try await expect("POST", "/api/v1/timepoints/generate/stream", body) {
      for try await _ in $0.timepoints.generating(request) {}
    }
    try await expect("PATCH", "/api/v1/timepoints/t/visibility", #"{"visibility": "private"}"#) {
      _ = try await $0.timepoints.setVisibility(of: "t", to: .private)
    }
    try await expect("GET", "/api/v1/users/me/timepoints?page=1&status=completed") {
      _ = try await $0.timepoints.mine(status: "completed")
    }
    try await expect("GET", "/api/v1/timepoints/t?full=true") { _ = try await $0.timepoints.timepoint("t", full: true) }
    try await expect("POST", "/api/v1/temporal/t/next", #"{"units": 2, "unit": "year"}"#) {
      _ = try await $0.timepoints.jump(from: "t", .next, units: 2, of: .year)
    }
    try await expect(
      "POST", "/api/v1/interactions/t/chat", #"{"character": "Ada", "message": "Hi", "session_id": "s"}"#
    ) { _ = try await $0.timepoints.chat(with: "Ada", in: "t", message: "Hi", session: "s") }
    try await expect("POST", "/api/v1/interactions/t/dialog", #"{"characters": "all", "num_lines": 5}"#) {
      _ = try await $0.timepoints.dialog(in: "t")
    }
    try await expect(
      "POST", "/api/v1/interactions/t/survey", #"{"characters": ["Ada"], "questions": ["Why?"]}"#
    ) { _ = try await $0.timepoints.survey(["Why?"], in: "t", characters: ["Ada"]) }
  }
}
