import Foundation

/// Links to lists, and direct invitations.
extension Invites {
  private struct Invite<Value: Decodable & Sendable>: Decodable, Sendable { let invite: Value }
  private struct All<Value: Decodable & Sendable>: Decodable, Sendable { let invites: [Value] }

  /// Makes a link with which several can join a list. Only its owner may.
  ///
  /// - Throws: ``KithFailure``, such as `validation_error`.
  public func createLink(
    to list: SharedList.ID, role: ListRole, maxUses: Int? = nil, expiresAt: Date? = nil
  ) async throws -> CodeLink<Int> {
    struct Fields: Encodable {
      let role: ListRole
      let maxUses: Int?
      let expiresAt: Date?
    }
    let body = ["invite": Fields(role: role, maxUses: maxUses, expiresAt: expiresAt)]
    return try await api.value(try .post("/api/v1/lists/\(list)/invites", body), as: Invite<CodeLink<Int>>.self)
      .invite
  }

  /// The newest first, for the list's owner.
  public func links(to list: SharedList.ID) async throws -> [CodeLink<Int>] {
    try await api.value(.get("/api/v1/lists/\(list)/invites"), as: All<CodeLink<Int>>.self).invites
  }

  /// Nobody can use the link any more. Safe to repeat.
  public func deleteLink(_ id: Int, to list: SharedList.ID) async throws {
    _ = try await api.send(.delete("/api/v1/lists/\(list)/invites/\(id)"))
  }

  /// Nobody can use any link to the list any more. Only its owner may. Safe to repeat.
  public func deleteLinks(to list: SharedList.ID) async throws {
    _ = try await api.send(.delete("/api/v1/lists/\(list)/invites"))
  }

  /// What a code leads to. Nobody needs to be signed in.
  public func previewList(code: String) async throws -> ListInvitePreview {
    try await api.value(Call.get("/api/v1/invites/\(code)").anonymous, as: Invite<ListInvitePreview>.self).invite
  }

  /// Joins the list that a code is for.
  ///
  /// - Parameter idempotencyKey: give your own, and keep it, to repeat the call after a restart of the app.
  /// - Throws: ``KithFailure``, such as `invite_unusable` or `already_member`.
  public func acceptList(
    code: String, idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> JoinedList {
    struct Answer: Decodable { let list: JoinedList }
    let call = try Call.post("/api/v1/invites/\(code)/accept").with { $0.idempotencyKey = idempotencyKey }
    return try await api.value(call, as: Answer.self).list
  }

  /// Declines a direct invitation, one of ``mine()``.
  ///
  /// - Throws: ``KithFailure``, such as `invite_not_found` for one that is not for the user, and for a link.
  public func declineList(code: String) async throws {
    _ = try await api.send(try .post("/api/v1/invites/\(code)/decline"))
  }

  /// Invitations to lists that are for the user.
  public func mine() async throws -> [ListInvitePreview] {
    try await api.value(.get("/api/v1/invites"), as: All<ListInvitePreview>.self).invites
  }
}

/// The list that an invitation has let the user into.
public struct JoinedList: Sendable, Equatable, Decodable, Identifiable {
  public let id: SharedList.ID
  public let name: String
  public let role: String?
}
