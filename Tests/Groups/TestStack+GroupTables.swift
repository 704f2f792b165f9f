import Foundation
import NIOHTTP1
import Support
import Wire

/// A group in the table `social_groups`.
struct GroupRow: Sendable {
  let id: String
  let code: String
}

extension SignedInUser {
  func rest(
    _ method: HTTPMethod, _ path: String, _ body: String? = nil, prefer: String? = nil, accept: String? = nil
  ) async throws -> Browser.Reply {
    var headers: [String: String] = [:]
    headers["Prefer"] = prefer
    headers["Accept"] = accept
    return try await browser.with(headers).send(method, "/rest/v1/\(path)", body: body.map { Data($0.utf8) })
  }

  func groupRow(_ name: String) async throws -> GroupRow {
    let made = try await rest(.POST, "social_groups", #"{"name":"\#(name)"}"#)
    guard made.status == 201, let row = made.list.first, let id = row["id"] as? String,
      let code = row["invite_code"] as? String
    else { throw Unexpected(reply: made.text) }
    return GroupRow(id: id, code: code)
  }

  func join(_ code: String) async throws -> Browser.Reply {
    try await rest(.POST, "social_groups/join", #"{"invite_code":"\#(code)"}"#)
  }

  /// The user ids of a group's members, in the order in which they joined.
  func members(of group: GroupRow) async throws -> [String] {
    let reply = try await rest(.GET, "group_members?group_id=eq.\(group.id)&order=joined_at,id")
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
    return reply.list.compactMap { $0["user_id"] as? String }
  }
}

extension Browser.Reply {
  /// `error.code`, for older clients.
  var errorCode: String { (self["error"] as? [String: Any])?["code"] as? String ?? "" }
}
