import Foundation

/// One list.
package struct ListAnswer: Sendable, Codable {
  package let list: SharedList

  package init(list: SharedList) {
    self.list = list
  }
}

/// Several lists, or those that have changed.
package struct ListsAnswer: Sendable, Codable {
  package let lists: [SharedList]
  /// The ids in `deleted`, as texts.
  package let tombstones: [String]?
  package let deleted: [Tombstone]?
  /// For the next question.
  package let cursor: String?
  /// In a page only, as the next two.
  package let page: Int?
  package let perPage: Int?
  package let hasMore: Bool?

  private enum CodingKeys: String, CodingKey {
    case lists, tombstones, deleted, cursor, page
    case perPage = "per_page"
    case hasMore = "has_more"
  }

  package init(
    lists: [SharedList], tombstones: [String]?, deleted: [Tombstone]?, cursor: String?, page: Int? = nil,
    perPage: Int? = nil, hasMore: Bool? = nil
  ) {
    self.lists = lists
    self.tombstones = tombstones
    self.deleted = deleted
    self.cursor = cursor
    self.page = page
    self.perPage = perPage
    self.hasMore = hasMore
  }
}

/// A list or a task that was deleted, or that the caller can no longer see.
package struct Tombstone: Sendable, Codable {
  package let id: Int
  package let deletedAt: Date

  private enum CodingKeys: String, CodingKey {
    case id
    case deletedAt = "deleted_at"
  }

  package init(id: Int, deletedAt: Date) {
    self.id = id
    self.deletedAt = deletedAt
  }
}

/// One membership.
package struct MembershipAnswer: Sendable, Codable {
  package let membership: ListMembership

  package init(membership: ListMembership) {
    self.membership = membership
  }
}

/// Who is in a list.
package struct MembershipsAnswer: Sendable, Codable {
  package let owner: SharedList.Person?
  package let memberships: [ListMembership]

  package init(owner: SharedList.Person?, memberships: [ListMembership]) {
    self.owner = owner
    self.memberships = memberships
  }
}

/// The people with whom the user shares a list.
package struct FriendsAnswer: Sendable, Codable {
  package let friends: [SharedList.Person]

  package init(friends: [SharedList.Person]) {
    self.friends = friends
  }
}
