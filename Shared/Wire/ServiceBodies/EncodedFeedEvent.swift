import Foundation

/// A ``FeedEvent`` as events keeps it. Its payload and its rows are the texts that were delivered: they are passed on,
/// and few of them are read.
package struct EncodedFeedEvent: Sendable {
  package let id: EventID
  /// Each once.
  package let topics: [String]
  package let name: String
  package let payload: String
  package let at: Date
  /// A ``RowChange``, or several in an array.
  package let changes: String?
  package let access: [AccessChange]?
  package let hiddenFrom: [UserID]?
  package let push: PushDetails?
  package let rowCount: Int
  /// Whether the payload, and the records of the rows, are objects.
  package let hasObjectPayload: Bool
  package let hasObjectRecords: Bool

  package init(_ event: FeedEvent) throws {
    let rows = [event.change].compactMap(\.self) + (event.changes ?? [])
    id = event.id
    topics = event.topics.uniqued
    name = event.name
    payload = try event.payload.text()
    at = event.at
    changes = try rows.isEmpty ? nil : (rows.count == 1 ? rows[0].json : .array(rows.map(\.json))).text()
    access = event.access
    hiddenFrom = event.hiddenFrom
    push = event.push
    rowCount = rows.count
    hasObjectPayload = event.payload.isObject
    hasObjectRecords = rows.allSatisfy { [$0.record, $0.oldRecord].compactMap(\.self).allSatisfy(\.isObject) }
  }

  /// - Throws: for what is not the text of an event, and for what is not certain to be one.
  init(_ reader: inout JSONReader) throws {
    var (id, topics, name, payload, at): (EventID?, [String]?, String?, String?, Date?)
    var (change, changes, furtherCount): (String?, String?, Int) = (nil, nil, 0)
    var (access, hiddenFrom, push): (JSONTree?, JSONTree?, JSONTree?)
    try reader.members { member, reader in
      switch member {
      case "id": id = EventID(try reader.text())
      case "topics": topics = try reader.elements { try $0.text() }
      case "name": name = try reader.text()
      case "payload": payload = try reader.unreadObject()
      case "at": at = RFC3339.parse(try reader.text())
      case "change": if !reader.skipNull() { change = try reader.written { try $0.skipRowChange() } }
      case "changes":
        if !reader.skipNull() {
          changes = try reader.written { furtherCount = try $0.elements { try $0.skipRowChange() }.count }
        }
      case "access": access = try reader.tree()
      case "hidden_from": hiddenFrom = try reader.tree()
      case "push": push = try reader.tree()
      default: _ = try reader.tree()
      }
    }
    guard let id, let topics, let name, let payload, let at else { throw UnexpectedTree() }
    self.id = id
    self.topics = topics.uniqued
    self.name = name
    self.payload = payload
    self.at = at
    self.changes = Self.all(change, changes)
    rowCount = (change == nil ? 0 : 1) + furtherCount
    self.access = try access.flatMap { try $0.ifNotNull { try $0.list { try AccessChange($0) } } }
    self.hiddenFrom = try hiddenFrom.flatMap { try $0.ifNotNull { try $0.list { try $0.id() } } }
    self.push = try push.flatMap { try $0.ifNotNull { try PushDetails($0) } }
    hasObjectPayload = true
    hasObjectRecords = true
  }

  package func decoded() throws -> FeedEvent {
    let rows = try changes.map { try RowChange.all(in: $0) } ?? []
    return FeedEvent(
      id: id, topics: topics, name: name, payload: try payloadValue(), at: at,
      change: rows.first, changes: rows.count > 1 ? Array(rows.dropFirst()) : nil, access: access,
      hiddenFrom: hiddenFrom, push: push)
  }

  /// - Parameter changes: an array.
  private static func all(_ change: String?, _ changes: String?) -> String? {
    guard let change, let changes, changes != "[]" else { return change ?? changes }
    return "[\(change),\(changes.dropFirst())"
  }

  package func payloadValue() throws -> JSONValue { JSONValue(try JSONTree(whole: payload)) }
}

/// A ``FeedBatch`` of such events.
package struct EncodedFeedBatch: JSONReadable, Sendable {
  package let events: [EncodedFeedEvent]

  package init(from decoder: any Decoder) throws {
    events = try FeedBatch(from: decoder).events.map { try EncodedFeedEvent($0) }
  }

  package init(json: [UInt8]) throws {
    var events: [EncodedFeedEvent]?
    try JSONReader.read(json) { reader in
      try reader.members { member, reader in
        if member == "events" {
          events = try reader.elements { try EncodedFeedEvent(&$0) }
        } else {
          _ = try reader.tree()
        }
      }
    }
    guard let events else { throw UnexpectedTree() }
    self.events = events
  }
}

extension JSONReader {
  /// A ``RowChange`` whose records are objects.
  fileprivate mutating func skipRowChange() throws {
    var (schema, table, kind): (String?, String?, RowChange.Kind?)
    try members { member, reader in
      switch member {
      case "schema": schema = try reader.text()
      case "table": table = try reader.text()
      case "type": kind = RowChange.Kind(rawValue: try reader.text())
      case "record", "old_record": if !reader.skipNull() { _ = try reader.unreadObject() }
      default: throw UnexpectedTree()
      }
    }
    guard schema != nil, table != nil, kind != nil else { throw UnexpectedTree() }
  }
}

extension JSONTree {
  fileprivate func ifNotNull<T>(_ read: (JSONTree) throws -> T) throws -> T? { self == .null ? nil : try read(self) }
}

extension JSONValue {
  fileprivate var isObject: Bool { if case .object = self { true } else { false } }

  fileprivate func text() throws -> String {
    var text: [UInt8] = []
    try write(to: &text)
    return String(decoding: text, as: UTF8.self)
  }
}

extension [String] {
  fileprivate var uniqued: [String] {
    count < 2 ? self : reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
