import Foundation
import Wire

/// A word by which somebody sorts tasks. It is theirs: only they rename it; whoever shares a list sees it on its tasks.
struct Tag: Sendable, Hashable {
  let id: Int
  let name: String
  let color: String?

  static let ownedMax = 500
  static let nameLength = 1...50
}

/// A tag on a task.
struct TagName: Encodable {
  let id: Int
  let name: String
  @OrNull var color: String?

  init(_ tag: Tag) {
    id = tag.id
    name = tag.name
    _color = OrNull(wrappedValue: tag.color)
  }
}

/// What a body says about a tag.
struct TagChange: Sendable {
  let name: String?
  let color: Given<String>

  init(_ fields: inout Fields) {
    name = fields.text("name", Tag.nameLength).value
    color = fields.text("color", 0...32)
  }
}

extension Failure {
  static let tagNotFound = Failure(.notFound, "tag_not_found", "There is no such tag.")
  static let tagNameTaken = Failure.invalid(.init("name", "has already been taken"))
  static let tooManyTags = Failure(.conflict, "too_many_tags", "You have as many tags as one person can have.")
}
