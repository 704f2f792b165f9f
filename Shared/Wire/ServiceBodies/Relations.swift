/// Requests the relations between a user and others, at most ``othersMax`` at once.
package struct RelationsQuery: Codable, Sendable {
  package static let othersMax = 500

  package let user: UserID
  package let others: [UserID]

  package init(user: UserID, others: [UserID]) {
    self.user = user
    self.others = others
  }
}

/// The relations between a user and others in one service.
package struct Relations: Codable, Sendable, Hashable {
  /// Users who share a list, a group or a collection with the user.
  package var shared: Set<UserID>
  /// Users whom the user has blocked, or who have blocked the user.
  package var blocked: Set<UserID>

  package init(shared: Set<UserID> = [], blocked: Set<UserID> = []) {
    self.shared = shared
    self.blocked = blocked
  }

  /// The union of the relations in two services.
  package func merging(_ other: Relations) -> Relations {
    Relations(shared: shared.union(other.shared), blocked: blocked.union(other.blocked))
  }
}
