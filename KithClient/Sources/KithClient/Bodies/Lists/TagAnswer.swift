/// One tag of the user's, whose members are repeated under `tag`.
package struct TagAnswer: Sendable, Codable {
  private enum CodingKeys: CodingKey { case tag }

  package let tag: ListTask.Tag

  package init(tag: ListTask.Tag) { self.tag = tag }

  package init(from decoder: any Decoder) throws { tag = try ListTask.Tag(from: decoder) }

  package func encode(to encoder: any Encoder) throws {
    try tag.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(tag, forKey: .tag)
  }
}
