import Web
import Wire

/// The internal API of the groups service.
package struct GroupsClient: Sendable {
  private let client: ServiceClient

  package init(in dependencies: Dependencies) { client = ServiceClient(.groups, in: dependencies) }

  /// The user's membership of the group; nil when there is no such group.
  package func membership(of user: UserID, in group: GroupID) async throws -> GroupMembership? {
    try await Self.groupNotFound.orNil { try await client.call(.GET, "/internal/groups/\(group)/members/\(user)") }
  }

  /// The group that a code of letters and digits opens; nil when it opens none. Attempts are limited by the caller.
  package func group(ofCode code: String) async throws -> GroupOfCode? {
    try await Self.groupNotFound.orNil { try await client.call(.GET, "/internal/groups/codes/\(code)") }
  }

  /// The groups that the user is in now, at most ``MemberOfGroups/groupsMax``, and whom a block keeps apart from them.
  package func member(_ user: UserID) async throws -> MemberOfGroups {
    try await Self.userNotFound.checking { try await client.call(.GET, "/internal/users/\(user)/groups") }
  }

  /// Adds the user to the group by an invite. Safe to repeat: a claim adds its user once.
  ///
  /// - Throws: 404 `group_not_found`.
  package func join(_ group: GroupID, _ user: UserID, by join: JoinByInvite) async throws -> JoinedGroup {
    try await Self.groupNotFound.checking {
      try await client.call(.PUT, "/internal/groups/\(group)/members/\(user)", body: join, isRepeatable: true)
    }
  }

  /// Adds users to the group as a member. Safe to repeat with an `idempotencyKey`.
  ///
  /// - Throws: 403 `not_a_member` when the adding user is not in the group, 400 `group_full`; nobody was added then.
  package func add(_ add: AddToGroup, to group: GroupID, idempotencyKey: String?) async throws -> AddedToGroup {
    try await client.call(.POST, "/internal/groups/\(group)/members", body: add, idempotencyKey: idempotencyKey)
  }

  /// Those of the users who would not be added, because they have left the group or were removed. Changes nothing.
  package func departed(among add: AddToGroup, from group: GroupID) async throws -> DepartedMembers {
    try await Self.groupNotFound.checking {
      try await client.call(.POST, "/internal/groups/\(group)/departed", body: add, isRepeatable: true)
    }
  }

  /// The user's membership of the collection; nil when there is no such collection.
  package func membership(of user: UserID, in collection: CollectionID) async throws -> CollectionMembership? {
    try await Self.collectionNotFound.orNil {
      try await client.call(.GET, "/internal/collections/\(collection)/members/\(user)")
    }
  }

  /// Adds the user to the collection by an invite. Safe to repeat. A role that the user already has is never lowered.
  ///
  /// - Throws: 404 `collection_not_found`.
  package func join(
    _ collection: CollectionID, _ user: UserID, by join: JoinByInvite
  ) async throws -> JoinedCollection {
    try await Self.collectionNotFound.checking {
      try await client.call(
        .PUT, "/internal/collections/\(collection)/members/\(user)", body: join, isRepeatable: true)
    }
  }

  /// Which of `others` share a group or a collection with the user, and which have blocked or are blocked by the user.
  /// At most ``RelationsQuery/othersMax`` others. Safe to repeat.
  package func relations(of user: UserID, to others: Set<UserID>) async throws -> Relations {
    guard !others.isEmpty else { return Relations() }
    let query = RelationsQuery(user: user, others: Array(others))
    return try await Self.groupNotFound.checking {
      try await client.call(.POST, "/internal/groups/relations", body: query, isRepeatable: true)
    }
  }

  private static let userNotFound = NotFoundCode(code: "user_not_found")
  private static let groupNotFound = NotFoundCode(code: "group_not_found")
  private static let collectionNotFound = NotFoundCode(code: "collection_not_found")
}
