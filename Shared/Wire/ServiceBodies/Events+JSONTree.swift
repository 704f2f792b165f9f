import Foundation

extension RowChange {
  /// The changes in a text that has one, or several in an array.
  ///
  /// - Throws: for a text that has neither.
  package static func all(in text: String) throws -> [RowChange] {
    let tree = try JSONTree(whole: text)
    guard case .array = tree else { return [try RowChange(tree)] }
    return try tree.list { try RowChange($0) }
  }

  init(_ tree: JSONTree) throws {
    let schema = try tree.member("schema") { try $0.stringValue() }
    let table = try tree.member("table") { try $0.stringValue() }
    guard let type = Kind(rawValue: try tree.member("type") { try $0.stringValue() }) else { throw UnexpectedTree() }
    let record = try tree.memberIfPresent("record") { JSONValue($0) }
    let oldRecord = try tree.memberIfPresent("old_record") { JSONValue($0) }
    self.init(schema: schema, table: table, type: type, record: record, oldRecord: oldRecord)
  }
}

extension AccessChange {
  init(_ tree: JSONTree) throws {
    let topic = try tree.member("topic") { try $0.stringValue() }
    let user: UserID = try tree.member("user_id") { try $0.id() }
    self.init(topic: topic, user: user, mayRead: try tree.member("may_read") { try $0.boolValue() })
  }
}

extension PushDetails {
  init(_ tree: JSONTree) throws {
    guard case .object = tree else { throw UnexpectedTree() }
    let recipients: [UserID]? = try tree.memberIfPresent("recipients") { try $0.list { try $0.id() } }
    let readersOf = try tree.memberIfPresent("readers_of") { try $0.stringValue() }
    let actor: UserID? = try tree.memberIfPresent("actor") { try $0.id() }
    let subject = try tree.memberIfPresent("subject") { try $0.stringValue() }
    let expiresAt = try tree.memberIfPresent("expires_at") { try $0.time() }
    self.init(
      recipients: recipients, readersOf: readersOf, actor: actor, subject: subject, expiresAt: expiresAt)
  }
}

extension JSONTree {
  /// As deep as a decoder accepts, and with whatever it accepts in strings.
  init(whole text: String) throws {
    self = try JSONReader.tree(of: Array(text.utf8), nestingMax: JSONText.nestingMax, acceptsNul: true)
  }
}
