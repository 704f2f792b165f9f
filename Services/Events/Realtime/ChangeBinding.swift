import Foundation
import Wire

/// One entry of `config.postgres_changes`: the changes that a channel has asked for.
struct ChangeBinding: Sendable {
  /// Equal parameters have equal ids, never 0, which Python's client takes for none.
  let id: Int
  /// The entry with every member that the client has sent, and `id`, as JSON.
  let echo: String
  /// nil for all kinds.
  private let kind: RowChange.Kind?
  private let schema: String
  /// nil for all tables.
  private let table: String?
  private let filter: ChangeFilter?
  /// nil for all columns.
  let columns: Set<String>?

  /// - Throws: ``ChangeFilterInvalid``, and for an entry that is not one.
  init(_ entry: JSONValue) throws(ChangeFilterInvalid) {
    let parsed = try Self.parameters(of: entry)
    let (id, echo) = Self.identity(of: entry)
    (self.id, self.echo) = (id, echo)
    (kind, schema, table, filter, columns) = parsed
  }

  private typealias Parameters = (RowChange.Kind?, String, String?, ChangeFilter?, Set<String>?)

  private static func parameters(of entry: JSONValue) throws(ChangeFilterInvalid) -> Parameters {
    guard case .object = entry, case .string(let event)? = entry["event"] else {
      throw ChangeFilterInvalid(text: "event is missing")
    }
    let kind = RowChange.Kind(rawValue: event.uppercased())
    guard kind != nil || event == "*" else { throw ChangeFilterInvalid(text: "event \(event.prefix(40))") }
    let table = entry["table"]?.text.flatMap { $0.isEmpty || $0 == "*" ? nil : $0 }
    var filter: ChangeFilter?
    if let text = entry["filter"]?.text, text.contains(where: { $0 != " " }) {
      guard table != nil else { throw ChangeFilterInvalid(text: "a filter needs a table") }
      filter = try ChangeFilter(text)
    }
    var columns: Set<String>?
    if case .array(let names)? = entry["select"], !names.isEmpty { columns = Set(names.compactMap(\.text)) }
    return (kind, entry["schema"]?.text ?? "public", table, filter, columns)
  }

  /// The echo of an entry, also of one that is not valid, as clients compare the list with what they have sent.
  static func identity(of entry: JSONValue) -> (id: Int, echo: String) {
    // `try?`: what was decoded can be encoded.
    let bytes = (try? JSON.encodeExact(entry)) ?? Data()
    var hash: UInt32 = 2_166_136_261
    for byte in bytes { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    let id = max(1, Int(hash & 0x7FF_FFFF))
    guard case .object(var members) = entry else { return (id, "{\"id\":\(id)}") }
    members["id"] = .integer(id)
    let echo = (try? JSON.encodeExact(JSONValue.object(members))).map { String(decoding: $0, as: UTF8.self) }
    return (id, echo ?? "{\"id\":\(id)}")
  }

  func matches(_ change: RowChange) -> Bool {
    guard kind == nil || kind == change.type, schema == "*" || schema == change.schema,
      table == nil || table == change.table
    else { return false }
    guard let filter else { return true }
    return (change.record ?? change.oldRecord).map(filter.matches) ?? false
  }
}

extension RowChange {
  /// The member `data` of a `postgres_changes` message.
  ///
  /// - Parameter selected: the columns to send; nil for all.
  func data(at time: Date, selected: Set<String>?) -> String {
    let (record, oldRecord) = (record?.columns(selected), oldRecord?.columns(selected))
    let columns = (record ?? oldRecord ?? [:]).sorted { $0.key < $1.key }
      .map { JSONValue.object(["name": .string($0.key), "type": .string($0.value.typeName)]) }
    var members: [String: JSONValue] = [
      "schema": .string(schema), "table": .string(table), "type": .string(type.rawValue), "errors": .null,
      "commit_timestamp": .string(RFC3339.milliseconds(time)), "columns": .array(columns),
    ]
    if let record { members["record"] = .object(record) }
    if let oldRecord { members["old_record"] = .object(oldRecord) }
    // `try?`: what was decoded can be encoded.
    return (try? JSON.encodeExact(JSONValue.object(members))).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}

extension JSONValue {
  fileprivate func columns(_ selected: Set<String>?) -> [String: JSONValue] {
    guard case .object(let members) = self else { return [:] }
    return selected.map { selected in members.filter { selected.contains($0.key) } } ?? members
  }

  /// The type of PostgreSQL by which clients convert the value.
  fileprivate var typeName: String {
    switch self {
    case .bool: "bool"
    case .integer: "int8"
    case .number: "float8"
    case .array, .object: "jsonb"
    case .null: "text"
    case .string(let text):
      UUID(uuidString: text) != nil ? "uuid" : RFC3339.parse(text) != nil ? "timestamptz" : "text"
    }
  }
}
