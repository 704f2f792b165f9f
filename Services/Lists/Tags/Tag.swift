import Foundation
import Wire

/// A label for tasks and lists. It belongs to one user, who alone can rename it; all members of a list see the tags on
/// it.
struct Tag: Sendable, Hashable {
  let id: Int
  let name: String
  let color: String?

  static let ownedMax = 500
  static let nameLength = 1...50
}

/// A tag as its owner sees it.
struct OwnedTag: Sendable, Hashable {
  let tag: Tag
  let createdAt: Date
  /// The number of tasks that have it.
  let taskCount: Int
}

extension Failure {
  static let tagNotFound = Failure(.notFound, "tag_not_found", "There is no such tag.")
  static let tagNameTaken = Failure.invalid(.init("name", "has already been taken"))
  static let foreignTags = Failure.invalid(.init("tag_ids", "must be tags of yours"))
  static let tooManyTags = Failure(.conflict, "too_many_tags", "You have as many tags as one person can have.")
}
