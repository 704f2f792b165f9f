/// Collections and their members.
public struct Collections: Sendable {
  let api: API

  /// Those that the user owns or was let into, the last changed first.
  public func all(skipping skip: Int = 0, atMost take: Int = 25) async throws -> [SharedCollection] {
    try await api.value(
      .get("/collections", ["skip": String(skip), "take": String(take)]), as: DataAnswer<[SharedCollection]>.self
    ).data
  }

  /// - Throws: ``KithFailure``, such as `collection_not_found` or `forbidden`.
  public func collection(_ id: SharedCollection.ID) async throws -> SharedCollection {
    try await api.value(.get("/collections/\(id)"), as: DataAnswer<SharedCollection>.self).data
  }

  /// - Throws: ``KithFailure``, such as `collection_name_taken`.
  public func create(name: String) async throws -> SharedCollection {
    try await api.value(try .post("/collections", ["name": name]), as: DataAnswer<SharedCollection>.self).data
  }

  /// Only its owner may. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `collection_name_taken` or `insufficient_permissions`.
  public func rename(_ id: SharedCollection.ID, to name: String) async throws -> SharedCollection {
    try await api.value(try .patch("/collections/\(id)", ["name": name]), as: DataAnswer<SharedCollection>.self).data
  }

  /// Only its owner may. Safe to repeat.
  public func delete(_ id: SharedCollection.ID) async throws {
    _ = try await api.send(.delete("/collections/\(id)"))
  }

  /// With the owner.
  public func members(of id: SharedCollection.ID) async throws -> [SharedCollection.Member] {
    try await api.value(.get("/collections/\(id)/members"), as: DataAnswer<[SharedCollection.Member]>.self).data
  }

  /// Only the owner may, and not their own role. Safe to repeat.
  ///
  /// - Throws: ``KithFailure``, such as `owner_is_fixed`.
  public func change(
    _ member: SharedCollection.Member.ID, of id: SharedCollection.ID, to role: SharedCollection.Role
  ) async throws -> SharedCollection.Member {
    try await api.value(
      try .patch("/collections/\(id)/members/\(member)", ["role": role]), as: DataAnswer<SharedCollection.Member>.self
    ).data
  }

  /// Only the owner may. Safe to repeat.
  public func remove(_ member: SharedCollection.Member.ID, from id: SharedCollection.ID) async throws {
    _ = try await api.send(.delete("/collections/\(id)/members/\(member)"))
  }
}
