/// The role of a member of a collection, with the names that its apps use.
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

/// A collection and the role of a user in it, for other services.
package struct CollectionMembership: Codable, Sendable, Hashable {
  package let collectionID: CollectionID
  package let collectionName: String
  /// nil when the user is not a member.
  @NullCodable package var role: CollectionRole?

  package init(collectionID: CollectionID, collectionName: String, role: CollectionRole?) {
    self.collectionID = collectionID
    self.collectionName = collectionName
    self._role = NullCodable(wrappedValue: role)
  }

  private enum CodingKeys: String, CodingKey {
    case role
    case collectionID = "collection_id"
    case collectionName = "collection_name"
  }
}

/// The reply to ``JoinByInvite`` for a collection.
package struct JoinedCollection: Codable, Sendable, Hashable {
  package let outcome: JoinOutcome
  package let collectionID: CollectionID
  /// The user's role after the call; nil when they are not a member.
  @NullCodable package var role: CollectionRole?

  package init(outcome: JoinOutcome, collectionID: CollectionID, role: CollectionRole?) {
    self.outcome = outcome
    self.collectionID = collectionID
    self._role = NullCodable(wrappedValue: role)
  }

  private enum CodingKeys: String, CodingKey {
    case outcome, role
    case collectionID = "collection_id"
  }
}
