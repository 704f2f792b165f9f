/// Share links of collections.
extension Invites {
  private struct Data<Value: Decodable & Sendable>: Decodable, Sendable { let data: Value }

  /// Makes a link that one person can use, to look at the collection. Only its owner may.
  ///
  /// - Parameter email: binds it to who has this address.
  public func createShareLink(to collection: SharedCollection.ID, for email: String? = nil) async throws -> ShareLink {
    struct Body: Encodable {
      let role: String
      let inviteeEmail: String?
    }
    let call = try Call.post("/collections/\(collection)/invites")
      .with(json: Body(role: "VIEW_ONLY", inviteeEmail: email), isSnakeCase: false)
    return try await api.value(call, as: Data<ShareLink>.self).data
  }

  /// What a share link leads to. Nobody needs to be signed in.
  public func resolve(token: String) async throws -> ShareLink {
    try await api.value(Call.get("/invites/resolve", ["token": token]).anonymous, as: Data<ShareLink>.self).data
  }

  /// - Parameter id: of ``resolve(token:)``.
  public func accept(_ id: ShareLink.ID) async throws -> ShareLinkAnswer {
    try await api.value(try .post("/invites/\(id)/accept"), as: Data<ShareLinkAnswer>.self).data
  }

  public func reject(_ id: ShareLink.ID) async throws -> ShareLinkAnswer {
    try await api.value(try .post("/invites/\(id)/reject"), as: Data<ShareLinkAnswer>.self).data
  }

  public func shareLinks(to collection: SharedCollection.ID) async throws -> [ShareLink] {
    try await api.value(.get("/collections/\(collection)/invites"), as: Data<[ShareLink]>.self).data
  }

  public func revokeShareLink(_ id: ShareLink.ID, to collection: SharedCollection.ID) async throws {
    _ = try await api.send(.delete("/collections/\(collection)/invites/\(id)"))
  }
}
