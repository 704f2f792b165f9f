import Foundation
import NIOHTTP1
import Support
import Testing

/// What a signed-in app sends to `/rest/v1`, as the contract's samples do.
extension SignedInUser {
  func rest(_ method: HTTPMethod, _ path: String, _ json: String? = nil, prefer: String? = nil) async throws
    -> Browser.Reply
  {
    let browser = prefer.map { self.browser.with(["Prefer": $0]) } ?? self.browser
    return try await browser.send(method, "/rest/v1/\(path)", body: json.map { Data($0.utf8) })
  }

  /// The rows of a GET.
  func rows(_ path: String) async throws -> [[String: Any]] {
    let reply = try await rest(.GET, path)
    guard reply.status == 200 else { throw Unexpected(reply: "\(reply.status) \(reply.text)") }
    return reply.list
  }

  /// The row that a POST makes.
  @discardableResult
  func insert(_ table: String, _ json: String) async throws -> [String: Any] {
    let reply = try await rest(.POST, table, json)
    guard reply.status == 201, let row = reply.list.first else {
      throw Unexpected(reply: "\(reply.status) \(reply.text)")
    }
    return row
  }

  /// A hunt with one checkpoint for each of the points, which is active if `isActive`.
  func makeHunt(
    points: [Int] = [20], isActive: Bool = true, group: String? = nil
  ) async throws -> TestHunt {
    let checkpoints = points.map { #"{"title": "Find it", "points": \#($0)}"# }.joined(separator: ",")
    let groupMember = group.map { #""group_id": "\#($0)","# } ?? ""
    let row = try await insert(
      "scavenger_hunts", #"{"title": "City", \#(groupMember) "checkpoints": [\#(checkpoints)]}"#)
    let id = row.text("id")
    if isActive { _ = try await rest(.PATCH, "scavenger_hunts?id=eq.\(id)", #"{"status": "active"}"#) }
    let found = try await rows("hunt_checkpoints?hunt_id=eq.\(id)&order=order_index")
    return TestHunt(id: id, code: row.text("invite_code"), checkpoints: found.map { $0.text("id") })
  }

  func join(_ hunt: TestHunt) async throws -> Browser.Reply {
    try await rest(.POST, "scavenger_hunts/join", #"{"invite_code": "\#(hunt.code)"}"#)
  }

  func submit(_ checkpoint: String) async throws -> Browser.Reply {
    try await rest(.POST, "checkpoint_submissions", #"{"checkpoint_id": "\#(checkpoint)"}"#)
  }
}

/// A group of the table `social_groups`.
struct TestGroup: Sendable {
  let id: String
  let code: String
}

extension TestStack {
  /// A group of `owner`, with those members.
  func makeGroup(_ owner: SignedInUser, with members: [SignedInUser] = []) async throws -> TestGroup {
    let row = try await owner.insert("social_groups", #"{"name": "Ours"}"#)
    let group = TestGroup(id: row.text("id"), code: row.text("invite_code"))
    for member in members {
      let joined = try await member.rest(.POST, "social_groups/join", #"{"invite_code": "\#(group.code)"}"#)
      guard joined.status == 200 else { throw Unexpected(reply: joined.text) }
    }
    return group
  }

  /// Waits until adventures has forgotten which groups they were in before.
  func forgetGroups(of users: SignedInUser...) async throws {
    let group = "01a1fd42-9c11-7f3e-8d25-5b7a3c9e1f04"
    let reply = try await adventures.with(with(key: "groups")).send(
      .POST, "/internal/groups/\(group)/departures", json: ["users": users.map(\.id.description)])
    guard reply.status == 204 else { throw Unexpected(reply: "\(reply.status) \(reply.text)") }
  }
}

extension SignedInUser {
  /// Removes a member, as the owner; without `member`, leaves.
  func remove(_ member: SignedInUser? = nil, from group: TestGroup) async throws {
    let user = (member ?? self).id
    let reply = try await rest(
      .DELETE, "group_members?group_id=eq.\(group.id)&user_id=eq.\(user)", prefer: "return=representation")
    guard reply.status == 200, reply.list.count == 1 else { throw Unexpected(reply: "\(reply.status) \(reply.text)") }
  }

  /// How many rows a GET shows.
  func count(_ path: String) async throws -> Int { try await rows(path).count }
}

struct TestHunt: Sendable {
  let id: String
  let code: String
  /// In their order.
  let checkpoints: [String]
}

extension [String: Any] {
  func text(_ name: String) -> String { self[name] as? String ?? "" }
  func int(_ name: String) -> Int? { (self[name] as? NSNumber)?.intValue }
}

extension Browser.Reply {
  /// The code in the list of older clients.
  var contractCode: String { (self["error"] as? [String: Any])?["code"] as? String ?? "" }
}
