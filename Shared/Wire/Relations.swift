/// Asks how a user stands to others, at most ``othersMax`` at once.
package struct RelationsQuery: Codable, Sendable {
  package static let othersMax = 500

  package let user: UserID
  package let others: [UserID]

  package init(user: UserID, others: [UserID]) {
    self.user = user
    self.others = others
  }
}

/// How a user stands to others, as far as one service knows.
package struct Relations: Codable, Sendable, Hashable {
  /// Those with whom the user is in the same list, group or collection.
  package var shared: Set<UserID>
  /// Those whom the user has blocked, or who have blocked the user.
  package var blocked: Set<UserID>

  package init(shared: Set<UserID> = [], blocked: Set<UserID> = []) {
    self.shared = shared
    self.blocked = blocked
  }

  /// What two services know, together.
  package func merging(_ other: Relations) -> Relations {
    Relations(shared: shared.union(other.shared), blocked: blocked.union(other.blocked))
  }
}
