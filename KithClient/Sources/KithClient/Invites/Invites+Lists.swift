import Foundation

/// Links to lists, and direct invitations.
extension Invites {
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

      private enum CodingKeys: String, CodingKey {
        case role
        case maxUses = "max_uses"
        case expiresAt = "expires_at"
      }
    }
    let body = ["invite": Fields(role: role, maxUses: maxUses, expiresAt: expiresAt)]
    return try await api.value(try .post("/api/v1/lists/\(list)/invites", body), as: InviteAnswer<CodeLink<Int>>.self)
      .invite
  }

  /// The newest first, for the list's owner.
  public func links(to list: SharedList.ID) async throws -> [CodeLink<Int>] {
    try await api.value(.get("/api/v1/lists/\(list)/invites"), as: InvitesAnswer<CodeLink<Int>>.self).invites
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
    try await api.value(Call.get("/api/v1/invites/\(code)").anonymous, as: InviteAnswer<ListInvitePreview>.self).invite
  }

  /// Joins the list that a code is for.
  ///
  /// - Parameter idempotencyKey: give your own, and keep it, to repeat the call after a restart of the app.
  /// - Throws: ``KithFailure``, such as `invite_unusable` or `already_member`.
  public func acceptList(
    code: String, idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> JoinedList {
    let call = try Call.post("/api/v1/invites/\(code)/accept").with { $0.idempotencyKey = idempotencyKey }
    return try await api.value(call, as: JoinedListAnswer.self).list
  }

  /// Declines a direct invitation, one of ``mine()``.
  ///
  /// - Throws: ``KithFailure``, such as `invite_not_found` for one that is not for the user, and for a link.
  public func declineList(code: String) async throws {
    _ = try await api.send(try .post("/api/v1/invites/\(code)/decline"))
  }

  /// Invitations to lists that are for the user.
  public func mine() async throws -> [ListInvitePreview] {
    try await api.value(.get("/api/v1/invites"), as: InvitesAnswer<ListInvitePreview>.self).invites
  }
}
