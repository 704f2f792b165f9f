import Foundation

/// The fields of a new task, or those that a change sets. What is not set is not changed.
public struct TaskFields: Sendable, Equatable, Codable {
  /// A field that can be emptied.
  public enum Emptyable: String, Sendable {
    case note, dueAt, color

    var wireName: String { self == .dueAt ? "due_at" : rawValue }
  }

  private(set) var values: [String: JSONValue] = [:]

  /// What is nil is not set.
  ///
  /// - Parameters:
  ///   - priority: 0 to 4.
  ///   - strictMode: whether a change of the due date needs a reason.
  ///   - reason: why the due date changes.
  public init(
    title: String? = nil, note: String? = nil, dueAt: Date? = nil, priority: Int? = nil, starred: Bool? = nil,
    strictMode: Bool? = nil, tagIDs: [Int]? = nil, reason: String? = nil
  ) {
    values["title"] = title.map(JSONValue.string)
    values["note"] = note.map(JSONValue.string)
    values["due_at"] = dueAt.map { .string($0.rfc3339) }
    values["priority"] = priority.map(JSONValue.int)
    values["starred"] = starred.map(JSONValue.bool)
    values["strict_mode"] = strictMode.map(JSONValue.bool)
    values["tag_ids"] = tagIDs.map { .array($0.map(JSONValue.int)) }
    values["reason"] = reason.map(JSONValue.string)
  }

  /// The same, and empties a field.
  public func emptying(_ field: Emptyable) -> TaskFields { setting(field.wireName, to: .null) }

  /// The same with a field for which there is no property here, by its name on the wire.
  public func setting(_ name: String, to value: JSONValue) -> TaskFields {
    var fields = self
    fields.values[name] = value
    return fields
  }

  func without(_ names: Set<String>) -> TaskFields {
    var fields = self
    for name in names { fields.values[name] = nil }
    return fields
  }

  public init(from decoder: any Decoder) throws {
    values = try decoder.singleValueContainer().decode([String: JSONValue].self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(values)
  }
}
