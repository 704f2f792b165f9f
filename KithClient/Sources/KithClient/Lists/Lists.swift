import Foundation

/// Lists and who is in them.
public struct Lists: Sendable {
  let api: API

  /// The user's own, and those that are shared with them.
  public func all() async throws -> [SharedList] { try await changes(since: nil).changed }

  /// The lists that have changed since a cursor; without one, all.
  public func changes(since cursor: String?) async throws -> Changes<SharedList> {
    let answer = try await api.value(
      .get("/api/v1/lists", ["since": cursor], cache: cursor == nil ? .lists : nil), as: ListsAnswer.self)
    return Changes(
      changed: answer.lists, deletedIDs: (answer.tombstones ?? []).compactMap { Int($0) }, cursor: answer.cursor,
      hasMore: false)
  }

  /// With its members.
  ///
  /// - Throws: ``KithFailure``, such as `list_not_found`, also for a list of strangers.
  public func list(_ id: SharedList.ID) async throws -> SharedList {
    try await api.value(.get("/api/v1/lists/\(id)", cache: .lists), as: ListAnswer.self).list
  }

  /// - Parameter idempotencyKey: give your own, and keep it, to repeat the call after a restart of the app.
  public func create(
    name: String, description: String? = nil, color: String? = nil,
    idempotencyKey: String = UUID().uuidString.lowercased()
  ) async throws -> SharedList {
    var fields = ["name": name]
    fields["description"] = description
    fields["color"] = color
    let call = try Call.post("/api/v1/lists", ["list": fields]).with { $0.idempotencyKey = idempotencyKey }
    return try await api.value(changing(call), as: ListAnswer.self).list
  }

  /// - Parameter version: of the list that the user saw. A change by somebody else since then is not overwritten: 412
  ///   `precondition_failed`.
  public func change(
    _ id: SharedList.ID, name: String? = nil, description: String? = nil, color: String? = nil, version: Int? = nil
  ) async throws -> SharedList {
    var fields: [String: String] = [:]
    fields["name"] = name
    fields["description"] = description
    fields["color"] = color
    let call = try Call.patch("/api/v1/lists/\(id)", ["list": fields]).ifMatch(version)
    return try await api.value(changing(call), as: ListAnswer.self).list
  }

  /// Only its owner may.
  public func delete(_ id: SharedList.ID, version: Int? = nil) async throws {
    _ = try await api.send(changing(Call.delete("/api/v1/lists/\(id)").ifMatch(version)))
  }

  /// Without the owner, who has no membership.
  public func memberships(of id: SharedList.ID) async throws -> [ListMembership] {
    try await api.value(.get("/api/v1/lists/\(id)/memberships"), as: MembershipsAnswer.self).memberships
  }

  /// Adds a user by e-mail address or id. Who cannot be added directly is sent an invitation.
  ///
  /// - Returns: nil: they were invited.
  public func add(_ identifier: String, to id: SharedList.ID, as role: ListRole) async throws -> ListMembership? {
    let body = ["membership": ["user_identifier": identifier, "role": role.rawValue]]
    let response = try await api.send(changing(try .post("/api/v1/lists/\(id)/memberships", body)))
    return response.status == 202 ? nil : try WireCoding.decode(MembershipAnswer.self, from: response.body).membership
  }

  /// Changes what a member may do. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `viewers_only_read`.
  public func change(
    _ membership: ListMembership.ID, of id: SharedList.ID, to role: ListRole
  ) async throws -> ListMembership {
    let call = try Call.patch("/api/v1/lists/\(id)/memberships/\(membership)", ["membership": ["role": role]])
    return try await api.value(changing(call), as: MembershipAnswer.self).membership
  }

  /// Removes a member, or oneself.
  public func remove(_ membership: ListMembership.ID, from id: SharedList.ID) async throws {
    _ = try await api.send(changing(.delete("/api/v1/lists/\(id)/memberships/\(membership)")))
  }

  /// The people with whom the user shares a list, by name. Without those whom the user has removed.
  public func friends() async throws -> [SharedList.Person] {
    try await api.value(.get("/api/v1/friends"), as: FriendsAnswer.self).friends
  }

  /// The lists that the two share stay as they are. Safe to repeat.
  public func removeFriend(_ id: SharedList.Person.ID) async throws {
    _ = try await api.send(.delete("/api/v1/friends/\(id)"))
  }

  private func changing(_ call: Call) -> Call { call.with { $0.cache = .lists } }
}

extension Call {
  /// - Parameter version: nil: whatever there is.
  func ifMatch(_ version: Int?) -> Call {
    with { call in call.headers["If-Match"] = version.map { "\"\($0)\"" } }
  }
}
