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

/// One's own tag with what is told of it where tags are shown by themselves.
struct OwnTag: Sendable, Hashable {
  let tag: Tag
  let createdAt: Date
  /// On how many tasks it is.
  let taskCount: Int
}

/// The same as the apps see it. What made or changed it is answered with the tag and, once more, under `tag`.
struct TagBody: Encodable {
  struct Members: Encodable {
    let id: Int
    let name: String
    @OrNull var color: String?
    let created_at: String
    let tasks_count: Int

    init(_ own: OwnTag) {
      id = own.tag.id
      name = own.tag.name
      _color = OrNull(wrappedValue: own.tag.color)
      created_at = Instant.milliseconds(own.createdAt)
      tasks_count = own.taskCount
    }
  }

  private enum Root: String, CodingKey {
    case tag
  }

  let members: Members

  init(_ own: OwnTag) { members = Members(own) }

  func encode(to encoder: any Encoder) throws {
    try members.encode(to: encoder)
    var container = encoder.container(keyedBy: Root.self)
    try container.encode(members, forKey: .tag)
  }
}

/// A tag on a task or a list.
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
