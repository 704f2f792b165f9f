import Clients
import Database
import Foundation
import Support
import Testing
import Wire

extension SignedInUser {
  /// Creates a collection and returns its prefixed id.
  func collection(_ name: String = "Modern Marbles") async throws -> String {
    let made = try await browser.post("/collections", ["name": name])
    guard let id = made.data["id"] as? String else { throw Unexpected(reply: made.text) }
    return id
  }

  /// Creates a group and returns its id.
  func group(_ name: String = "The Cabin") async throws -> String {
    let made = try await browser.post("/api/groups", ["name": name])
    guard made.status == 200 else { throw Unexpected(reply: made.text) }
    return made.string("id")
  }

  /// Creates a link to a collection of this user.
  func link(to collection: String, _ body: [String: any Sendable] = ["role": "VIEW_ONLY"]) async throws -> ShareLink {
    let made = try await browser.post("/collections/\(collection)/invites", body)
    guard made.status == 201, let id = made.data["id"] as? String, let token = made.data["token"] as? String else {
      throw Unexpected(reply: made.text)
    }
    return ShareLink(id: id, token: token)
  }

  /// The user's role in a collection; nil for a user who is not in it.
  func role(in collection: String) async throws -> String? {
    let members = try await browser.get("/collections/\(collection)/members")["data"] as? [[String: Any]] ?? []
    return members.first { ($0["userId"] as? String) == id.prefixed(.user) }?["role"] as? String
  }

  func accept(_ link: ShareLink) async throws -> Browser.Reply { try await browser.post("/invites/\(link.id)/accept") }

  func reject(_ link: ShareLink) async throws -> Browser.Reply { try await browser.post("/invites/\(link.id)/reject") }
}

/// The id and the token of a link to a collection.
struct ShareLink: Sendable {
  let id: String
  let token: String
}

extension Browser.Reply {
  /// The object under `data`.
  var data: [String: Any] { self["data"] as? [String: Any] ?? [:] }
}

extension TestStack {
  /// A user whose e-mail address Apple has verified.
  func signInWithApple(_ name: String) async throws -> SignedInUser {
    let token = try apple.identityToken(
      subject: name, at: clock.now, changing: ["email": "\(name)@example.com", "is_private_email": false])
    return try await SignedInUser(
      try await gateway.post("/api/v1/auth/apple", ["identity_token": token]), through: gateway)
  }

  /// Creates a list of the user.
  func list(of user: SignedInUser, _ name: String = "Groceries") async throws -> Int {
    let made = try await user.browser.post("/api/v1/lists", ["list": ["name": name]])
    guard let id = (made["list"] as? [String: Any])?["id"] as? Int else { throw Unexpected(reply: made.text) }
    return id
  }

  /// Joins a list by a new link of its owner.
  func joinByLink(_ user: SignedInUser, to list: Int, of owner: SignedInUser) async throws -> Browser.Reply {
    let made = try await owner.browser.post("/api/v1/lists/\(list)/invites", ["invite": ["role": "editor"]])
    let code = (made["invite"] as? [String: Any])?["code"] as? String ?? ""
    let accepted = try await user.browser.post("/api/v1/invites/\(code)/accept")
    guard accepted.status == 200 else { throw Unexpected(reply: accepted.text) }
    return accepted
  }

  /// Makes the users members of one collection, so that they may address each other.
  func shareCollection(_ user: SignedInUser, with others: [SignedInUser]) async throws {
    let made = try await user.browser.post("/collections", ["name": "\(UUID())"])
    let groups = GroupsClient(in: dependencies(of: "invites"))
    let id = try #require(CollectionID(made.data["id"] as? String ?? "", prefix: .collection))
    for other in others {
      let invite = JoinByInvite(inviteID: .new(at: clock.now), invitedBy: user.id, role: .viewOnly)
      _ = try await groups.join(id, other.id, by: invite)
    }
  }

  func resolve(_ link: ShareLink) async throws -> Browser.Reply {
    try await gateway.get("/invites/resolve?token=\(link.token)")
  }
}

/// A test stack with a fake Twilio server.
struct TextingStack: Sendable {
  let stack: TestStack
  let twilio: TwilioServer

  /// A user who has signed in by a phone number.
  func signIn(_ name: String, _ number: String) async throws -> SignedInUser {
    let before = texts(to: number).count
    let asked = try await stack.gateway.post("/api/auth/request-verification", ["phone_number": number])
    guard asked.status == 200 else { throw Unexpected(reply: asked.text) }
    try await eventually("a code for \(number)") { texts(to: number).count > before }
    let code = texts(to: number).last?.firstMatch(of: /\b\d{6}\b/).map { String($0.output) } ?? ""
    let reply = try await stack.gateway.post(
      "/api/auth/verify", ["phone_number": number, "code": code, "first_name": name])
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
    return try await SignedInUser(reply, through: stack.gateway)
  }

  func texts(to number: String) -> [String] { twilio.messages.filter { $0.to == number }.map(\.text) }

  /// Sends invites to phone numbers and returns their codes.
  func invite(_ numbers: [String], to group: String, by user: SignedInUser) async throws -> [String] {
    let sent = try await user.browser.post(
      "/api/invites/send", ["group_id": group, "phone_numbers": numbers, "existing_users": [[String: String]]()])
    guard sent.status == 200 else { throw Unexpected(reply: sent.text) }
    return (sent["sent_invites"] as? [[String: String]] ?? []).compactMap { $0["invite_code"] }
  }
}

func withTextingStack(
  _ engine: Engine, _ overrides: [String: String] = [:], _ body: (TextingStack) async throws -> Void
) async throws {
  try await withTwilio { twilio in
    let limits = [
      "SMS_PER_ADDRESS_HOUR": "1000", "SMS_PER_PREFIX_HOUR": "1000",
      "APP_NAME": "Dayly", "APP_STORE_URL": "https://apps.apple.com/app/id42",
    ]
    let settings = twilio.settings.merging(limits) { $1 }.merging(overrides) { $1 }
    try await withStack(engine, settings) { stack in try await body(TextingStack(stack: stack, twilio: twilio)) }
  }
}

/// A phone number of the tests.
func number(_ index: Int) -> String { "+4790\(100_000 + index)" }

/// Runs `body` `count` times at the same time and returns the results in the order of the indexes.
func concurrently<T: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> T) async throws -> [T] {
  try await atOnce(count) { ($0, try await body($0)) }.sorted { $0.0 < $1.0 }.map(\.1)
}
