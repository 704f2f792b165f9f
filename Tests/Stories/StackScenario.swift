import Foundation
import Support
import Testing
import Web
import Wire

/// Alice, Bob and Carol, and what they have at every service. Alice shares a list and her arrival time with Bob.
struct StackScenario: Sendable {
  let stack: TestStack
  let alice: SignedInUser
  let bob: SignedInUser
  let carol: SignedInUser
  let group: String
  /// A list of Alice and Bob, and one of Alice.
  let lists: (shared: Int, own: Int)
  /// Invites by which whoever has them may join a collection of Alice's, and her own list.
  let invites: (toCollection: String, toList: String)

  init(_ stack: TestStack) async throws {
    self.stack = stack
    let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
    (self.alice, self.bob, carol) = (alice, bob, try await stack.signIn("carol"))
    for user in [alice, bob, carol] {
      #expect(try await user.browser.get("/api/v1/credits/balance").int("balance") == 50)
    }
    func made(_ path: String, _ body: [String: any Sendable], _ name: String) async throws -> [String: Any] {
      let reply = try await alice.browser.post(path, body)
      guard let object = reply[name] as? [String: Any] else { throw Unexpected(reply: "\(path): \(reply.text)") }
      return object
    }
    let shared = try await made("/api/v1/lists", ["list": ["name": "Home"]], "list")["id"] as? Int ?? 0
    let own = try await made("/api/v1/lists", ["list": ["name": "Work"]], "list")["id"] as? Int ?? 0
    lists = (shared, own)
    let membership = ["membership": ["user_identifier": "bob@example.com", "role": "editor"]]
    #expect(try await alice.browser.post("/api/v1/lists/\(shared)/memberships", membership).status == 201)
    #expect(try await alice.browser.post("/api/v1/lists/\(shared)/tasks", ["task": ["title": "Milk"]]).status == 201)
    group = try await alice.browser.post("/api/groups", ["name": "Family"]).string("id")
    let collection = try await made("/collections", ["name": "Recipes"], "data")["id"] as? String ?? ""
    let toCollection = try await made("/collections/\(collection)/invites", ["role": "VIEW_ONLY"], "data")
    let toList = try await made("/api/v1/lists/\(own)/invites", ["invite": ["role": "editor"]], "invite")
    invites = (toCollection["id"] as? String ?? "", toList["code"] as? String ?? "")
    #expect(try await share(with: bob).status == 201)
  }

  /// What Alice reads of a service, none of it with the help of another.
  func reads(of service: ServiceName) -> [String] {
    switch service {
    case .auth: ["/api/v1/auth/me", "/api/v1/users/profile"]
    case .invites: ["/api/v1/invites"]
    case .groups: ["/api/groups", "/collections", "/api/photos/\(group)/today", "/rest/v1/social_groups"]
    case .lists: ["/api/v1/lists", "/api/v1/lists/\(lists.shared)/tasks", "/api/v1/today", "/api/v1/friends"]
    case .credits: ["/api/v1/credits/balance", "/api/v1/credits/history"]
    case .events: ["/api/devices", "/api/v1/notification_preference"]
    case .adventures: ["/rest/v1/adventure_plans", "/rest/v1/saved_places", "/rest/v1/eta_shares"]
    case .timepoints: ["/api/v1/users/me/timepoints"]
    }
  }

  func expectServed(_ service: ServiceName, _ when: String) async throws {
    for path in reads(of: service) {
      let reply = try await alice.browser.get(path)
      #expect(reply.status == 200, "\(when): \(path): \(reply.text)")
    }
  }

  // MARK: What the three do

  func share(with user: SignedInUser) async throws -> Browser.Reply {
    try await alice.browser.post(
      "/rest/v1/eta_shares",
      [
        "route_data": ["duration": 60], "recipients": ["\(user.id)"],
        "expires_at": RFC3339.seconds(stack.clock.now + 3600),
      ])
  }

  func add(_ identifier: String, to list: Int) async throws -> Browser.Reply {
    try await alice.browser.post(
      "/api/v1/lists/\(list)/memberships", ["membership": ["user_identifier": identifier, "role": "editor"]])
  }

  func carolJoinsTheList() async throws -> Browser.Reply {
    try await carol.browser.post("/api/v1/invites/\(invites.toList)/accept")
  }

  func carolJoinsTheCollection() async throws -> Browser.Reply {
    try await carol.browser.post("/invites/\(invites.toCollection)/accept")
  }

  func makeScene() async throws -> Browser.Reply {
    try await alice.browser.post(
      "/api/v1/timepoints/generate/sync", ["query": "Market day in Lübeck, 1356", "generate_image": false])
  }
}
