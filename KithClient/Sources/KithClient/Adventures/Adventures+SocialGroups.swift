import Foundation

/// Groups of people who go out together, joined by a code.
extension Adventures {
  /// Those that the user is in. Kept for 15 minutes.
  public func socialGroups() async throws -> [SocialGroup] {
    try await rows("social_groups", [:], .socialGroups)
  }

  /// Makes a group, with a code for others to join.
  public func createSocialGroup(name: String, description: String? = nil) async throws -> SocialGroup {
    var body = ["name": name]
    body["description"] = description
    return try await row(try .post("/rest/v1/social_groups", body), .socialGroups)
  }

  /// Safe to repeat: who is in already gets the group.
  public func joinSocialGroup(code: String) async throws -> SocialGroup {
    let call = try Call.post("/rest/v1/social_groups/join", ["invite_code": code])
    return try await row(call.with { $0.alsoStale = [.hunts] }, .socialGroups)
  }

  /// What is nil stays as it is. Only its owner may. Safe to repeat, but for a new code.
  ///
  /// - Parameter replacingCode: whether the group gets a new code. The old one opens nothing any more.
  /// - Throws: ``KithFailure/invalid(_:)`` for a group of others.
  public func changeSocialGroup(
    _ id: SocialGroup.ID, name: String? = nil, description: String? = nil, replacingCode: Bool = false
  ) async throws -> SocialGroup {
    var body: [String: JSONValue] = [:]
    body["name"] = name.map(JSONValue.string)
    body["description"] = description.map(JSONValue.string)
    if replacingCode { body["invite_code"] = .null }
    return try await row(try Call.patch("/rest/v1/social_groups", body).filtered("id", id), .socialGroups)
  }

  /// Ends the group for all. Only its owner may. Safe to repeat.
  public func closeSocialGroup(_ id: SocialGroup.ID) async throws {
    try await delete("social_groups", id, .socialGroups)
  }

  /// Who is in a group that the user is in. Kept for 15 minutes.
  public func members(ofSocialGroup id: SocialGroup.ID) async throws -> [SocialGroup.Membership] {
    try await rows("group_members", ["group_id": "eq.\(id)", "order": "joined_at"], .socialGroups)
  }

  /// Safe to repeat.
  ///
  /// - Throws: ``KithFailure/signedOut``, and the failures of a call.
  public func leaveSocialGroup(_ id: SocialGroup.ID) async throws {
    // Says whose session it is.
    _ = try await api.sessions.bearer()
    guard let user = await api.sessions.userID else { throw KithFailure.signedOut }
    try await removeMember(user, fromSocialGroup: id)
  }

  /// Only its owner may. Safe to repeat.
  public func removeMember(_ user: String, fromSocialGroup id: SocialGroup.ID) async throws {
    let call = Call.delete("/rest/v1/group_members").filtered("group_id", id).filtered("user_id", user)
    _ = try await api.send(
      call.with {
        $0.cache = .socialGroups
        $0.alsoStale = [.hunts]
      })
  }
}
