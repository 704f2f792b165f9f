import Foundation

/// Share links of collections.
extension Invites {
  /// Makes a link that one person can use, to look at the collection. Only its owner may.
  ///
  /// - Parameter email: binds it to who has this address.
  public func createShareLink(to collection: SharedCollection.ID, for email: String? = nil) async throws -> ShareLink {
    struct Body: Encodable {
      let role: String
      let inviteeEmail: String?
    }
    let call = try Call.post("/collections/\(collection)/invites")
      .with(json: Body(role: "VIEW_ONLY", inviteeEmail: email))
    return try await api.value(call, as: DataAnswer<CreatedShareLink>.self).data.link
  }

  /// What a share link leads to. Nobody needs to be signed in.
  public func resolve(token: String) async throws -> ShareLink {
    try await api.value(Call.get("/invites/resolve", ["token": token]).anonymous, as: DataAnswer<ShareLink>.self).data
  }

  /// - Parameters:
  ///   - id: of ``resolve(token:)``.
  ///   - idempotencyKey: give your own, and keep it, to repeat the call after a restart of the app.
  /// - Throws: ``KithFailure``, such as `invite_processed` or `not_your_invite`.
  public func accept(
    _ id: ShareLink.ID, idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> ShareLinkAnswer {
    let call = try Call.post("/invites/\(id)/accept").with { $0.idempotencyKey = idempotencyKey }
    return try await api.value(call, as: DataAnswer<ShareLinkAnswer>.self).data
  }

  /// - Throws: ``KithFailure``, such as `invite_processed`.
  public func reject(_ id: ShareLink.ID) async throws -> ShareLinkAnswer {
    try await api.value(try .post("/invites/\(id)/reject"), as: DataAnswer<ShareLinkAnswer>.self).data
  }

  /// The newest first, for the collection's owner.
  public func shareLinks(to collection: SharedCollection.ID) async throws -> [ShareLink] {
    try await api.value(.get("/collections/\(collection)/invites"), as: DataAnswer<[ShareLink]>.self).data
  }

  /// Nobody can use the link any more. Safe to repeat.
  public func revokeShareLink(_ id: ShareLink.ID, to collection: SharedCollection.ID) async throws {
    _ = try await api.send(.delete("/collections/\(collection)/invites/\(id)"))
  }
}
