import Foundation
import Wire

/// The JSON of an owned tag. Its members are repeated under `tag`.
struct TagBody: Encodable {
  struct Members: Encodable {
    let id: Int
    let name: String
    @NullCodable var color: String?
    let created_at: String
    let tasks_count: Int

    init(_ own: OwnedTag) {
      id = own.tag.id
      name = own.tag.name
      _color = NullCodable(wrappedValue: own.tag.color)
      created_at = RFC3339.milliseconds(own.createdAt)
      tasks_count = own.taskCount
    }
  }

  private enum Root: String, CodingKey {
    case tag
  }

  let members: Members

  init(_ own: OwnedTag) { members = Members(own) }

  func encode(to encoder: any Encoder) throws {
    try members.encode(to: encoder)
    var container = encoder.container(keyedBy: Root.self)
    try container.encode(members, forKey: .tag)
  }
}

/// The JSON of a tag on a task or list.
struct TagSummaryBody: Encodable {
  let id: Int
  let name: String
  @NullCodable var color: String?

  init(_ tag: Tag) {
    id = tag.id
    name = tag.name
    _color = NullCodable(wrappedValue: tag.color)
  }
}

/// The fields of a request that creates or changes a tag.
struct TagChange: Sendable {
  let name: String?
  let color: FieldValue<String>

  init(_ fields: inout RequestFields) {
    name = fields.text("name", Tag.nameLength).value
    color = fields.text("color", 0...32)
  }
}
