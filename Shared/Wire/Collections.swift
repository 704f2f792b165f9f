/// What a member of a collection may do, in the words of its apps.
package enum CollectionRole: String, Codable, Sendable, Comparable, CaseIterable {
  case viewOnly = "VIEW_ONLY"
  case editor = "EDITOR"
  case owner = "OWNER"

  private var rank: Int {
    switch self {
    case .viewOnly: 0
    case .editor: 1
    case .owner: 2
    }
  }

  package static func < (left: CollectionRole, right: CollectionRole) -> Bool { left.rank < right.rank }
}

/// How a user stands to a collection, as other services see it.
package struct CollectionStanding: Codable, Sendable, Hashable {
  package let collectionID: CollectionID
  package let collectionName: String
  /// nil for who is not a member.
  @OrNull package var role: CollectionRole?

  package init(collectionID: CollectionID, collectionName: String, role: CollectionRole?) {
    self.collectionID = collectionID
    self.collectionName = collectionName
    self._role = OrNull(wrappedValue: role)
  }

  private enum CodingKeys: String, CodingKey {
    case role
    case collectionID = "collection_id"
    case collectionName = "collection_name"
  }
}

/// The answer to ``JoinByInvite`` for a collection.
package struct JoinedCollection: Codable, Sendable, Hashable {
  package let outcome: JoinOutcome
  package let collectionID: CollectionID
  /// What the user is in it now; nil for who is not in it.
  @OrNull package var role: CollectionRole?

  package init(outcome: JoinOutcome, collectionID: CollectionID, role: CollectionRole?) {
    self.outcome = outcome
    self.collectionID = collectionID
    self._role = OrNull(wrappedValue: role)
  }

  private enum CodingKeys: String, CodingKey {
    case outcome, role
    case collectionID = "collection_id"
  }
}
