/// The fields of a request that creates or changes a tag.
struct TagChange: Sendable {
  let name: String?
  let color: FieldValue<String>

  init(_ fields: inout RequestFields) {
    name = fields.text("name", Tag.nameLength).value
    color = fields.text("color", 0...32)
  }
}
