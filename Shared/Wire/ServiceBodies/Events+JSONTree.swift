import Foundation

/// Deliveries are made from the tree that their payloads are made from as well. With a decoder they would be parsed twice,
/// as it gives no access to what it has parsed.
extension FeedBatch: JSONTreeReadable {
  package init(_ tree: JSONTree) throws {
    self.init(events: try tree.member("events") { try $0.list { try FeedEvent($0) } })
  }
}

extension FeedEvent {
  fileprivate init(_ tree: JSONTree) throws {
    let id: EventID = try tree.member("id") { try $0.id() }
    let topics = try tree.member("topics") { try $0.list { try $0.stringValue() } }
    let name = try tree.member("name") { try $0.stringValue() }
    let payload = try tree.member("payload") { JSONValue($0) }
    let at = try tree.member("at") { try $0.time() }
    let change = try tree.memberIfPresent("change") { try RowChange($0) }
    let changes = try tree.memberIfPresent("changes") { try $0.list { try RowChange($0) } }
    let access = try tree.memberIfPresent("access") { try $0.list { try AccessChange($0) } }
    let hiddenFrom: [UserID]? = try tree.memberIfPresent("hidden_from") { try $0.list { try $0.id() } }
    let push = try tree.memberIfPresent("push") { try PushDetails($0) }
    self.init(
      id: id, topics: topics, name: name, payload: payload, at: at, change: change, changes: changes,
      access: access, hiddenFrom: hiddenFrom, push: push)
  }
}

extension RowChange {
  fileprivate init(_ tree: JSONTree) throws {
    let schema = try tree.member("schema") { try $0.stringValue() }
    let table = try tree.member("table") { try $0.stringValue() }
    guard let type = Kind(rawValue: try tree.member("type") { try $0.stringValue() }) else { throw UnexpectedTree() }
    let record = try tree.memberIfPresent("record") { JSONValue($0) }
    let oldRecord = try tree.memberIfPresent("old_record") { JSONValue($0) }
    self.init(schema: schema, table: table, type: type, record: record, oldRecord: oldRecord)
  }
}

extension AccessChange {
  fileprivate init(_ tree: JSONTree) throws {
    let topic = try tree.member("topic") { try $0.stringValue() }
    let user: UserID = try tree.member("user_id") { try $0.id() }
    self.init(topic: topic, user: user, mayRead: try tree.member("may_read") { try $0.boolValue() })
  }
}

extension PushDetails {
  fileprivate init(_ tree: JSONTree) throws {
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
