import Web
import Wire

/// What other services ask of groups and collections.
package struct GroupsClient: Sendable {
  private let client: ServiceClient

  package init(in surroundings: Surroundings) { client = ServiceClient(.groups, in: surroundings) }

  /// How the user stands to the group; nil when there is no such group.
  package func standing(of user: UserID, in group: GroupID) async throws -> GroupStanding? {
    try await Self.groupNotFound.orNil { try await client.call(.GET, "/internal/groups/\(group)/members/\(user)") }
  }

  /// Safe to repeat: the same claim lets the same user in once.
  ///
  /// - Throws: 404 `group_not_found`.
  package func join(_ group: GroupID, _ user: UserID, by join: JoinByInvite) async throws -> JoinedGroup {
    try await Self.groupNotFound.believed {
      try await client.call(.PUT, "/internal/groups/\(group)/members/\(user)", body: join, isRepeatable: true)
    }
  }

  /// Safe to repeat with an `idempotencyKey`.
  ///
  /// - Throws: 403 `not_a_member` when whoever adds is not in the group, 400 `group_full`: then nobody was added.
  package func add(_ add: AddToGroup, to group: GroupID, idempotencyKey: String?) async throws -> AddedToGroup {
    try await client.call(.POST, "/internal/groups/\(group)/members", body: add, idempotencyKey: idempotencyKey)
  }

  /// Who of those whom a member names would not be added, because they have left or were removed. Changes nothing.
  package func departed(among add: AddToGroup, from group: GroupID) async throws -> DepartedFromGroup {
    try await Self.groupNotFound.believed {
      try await client.call(.POST, "/internal/groups/\(group)/departed", body: add, isRepeatable: true)
    }
  }

  /// How the user stands to the collection; nil when there is no such collection.
  package func standing(of user: UserID, in collection: CollectionID) async throws -> CollectionStanding? {
    try await Self.collectionNotFound.orNil {
      try await client.call(.GET, "/internal/collections/\(collection)/members/\(user)")
    }
  }

  /// Safe to repeat. A role that the user already has is never lowered.
  ///
  /// - Throws: 404 `collection_not_found`.
  package func join(
    _ collection: CollectionID, _ user: UserID, by join: JoinByInvite
  ) async throws -> JoinedCollection {
    try await Self.collectionNotFound.believed {
      try await client.call(
        .PUT, "/internal/collections/\(collection)/members/\(user)", body: join, isRepeatable: true)
    }
  }

  /// With whom of `others` the user shares a group or a collection, and whom of them a block keeps apart from the user,
  /// whichever of the two made it. At most ``RelationsQuery/othersMax`` others. Safe to repeat.
  package func relations(of user: UserID, to others: Set<UserID>) async throws -> Relations {
    guard !others.isEmpty else { return Relations() }
    let query = RelationsQuery(user: user, others: Array(others))
    return try await Self.groupNotFound.believed {
      try await client.call(.POST, "/internal/groups/relations", body: query, isRepeatable: true)
    }
  }

  private static let groupNotFound = NotFound(code: "group_not_found")
  private static let collectionNotFound = NotFound(code: "collection_not_found")
}
