import Foundation
import Wire

/// An event that a service records. What is delivered is its JSON, that of a `FeedEvent`, which is written without an
/// encoder: that would be a large part of what an event costs the request that records it.
struct NewEvent: Sendable {
  let id: EventID
  let topics: [String]
  let name: String
  let payload: EventFields
  let at: Date
  var change: EventChange?
  var changes: ArraySlice<EventChange> = []
  var access: [AccessChange]?
  var hiddenFrom: [UserID]?
  var push: PushDetails?

  private static let usualBytes = 1024

  /// - Throws: `EncodingError` for a number that is not finite.
  func text() throws -> String {
    var text: [UInt8] = []
    text.reserveCapacity(Self.usualBytes)
    text.append(#"{"id":"#)
    id.write(to: &text)
    text.append(#","topics":"#)
    try topics.write(to: &text)
    text.append(#","name":"#)
    name.write(to: &text)
    text.append(#","payload":"#)
    try payload.write(to: &text)
    text.append(#","at":"#)
    at.write(to: &text)
    if let change {
      text.append(#","change":"#)
      try change.write(to: &text)
    }
    if !changes.isEmpty {
      text.append(#","changes":"#)
      try Array(changes).write(to: &text)
    }
    if let access {
      text.append(#","access":"#)
      try access.map(\.fields).write(to: &text)
    }
    if let hiddenFrom {
      text.append(#","hidden_from":"#)
      try hiddenFrom.write(to: &text)
    }
    if let push {
      text.append(#","push":"#)
      try push.fields.write(to: &text)
    }
    text.append("}")
    return String(decoding: text, as: UTF8.self)
  }
}

/// The change of a row that an event reports, as clients of `postgres_changes` receive it: a `RowChange`.
package struct EventChange: Sendable {
  private let table: String
  private let type: RowChange.Kind
  /// The row after the change.
  private let record: EventFields?
  /// What is known of it before the change.
  private let oldRecord: EventFields?

  /// The change of a row of `table`.
  ///
  /// - Parameters:
  ///   - key: the columns of the primary key.
  ///   - record: the other columns after the change; not for a row that was deleted.
  package static func of(
    _ table: String, _ type: RowChange.Kind, key: EventFields, _ record: EventFields = [:]
  ) -> EventChange {
    EventChange(
      table: table, type: type, record: type == .delete ? nil : record + key, oldRecord: type == .insert ? nil : key)
  }
}

extension EventChange: EventValue {
  package func write(to output: inout [UInt8]) throws {
    output.append(#"{"schema":"public","table":"#)
    table.write(to: &output)
    output.append(#","type":"#)
    type.rawValue.write(to: &output)
    if let record {
      output.append(#","record":"#)
      try record.write(to: &output)
    }
    if let oldRecord {
      output.append(#","old_record":"#)
      try oldRecord.write(to: &output)
    }
    output.append("}")
  }
}

extension AccessChange {
  fileprivate var fields: EventFields { ["topic": topic, "user_id": user, "may_read": mayRead] }
}

extension PushDetails {
  fileprivate var fields: EventFields {
    var members: [String: JSONValue] = [:]
    members["recipients"] = recipients.map { .array($0.map { .string("\($0)") }) }
    members["readers_of"] = readersOf.map { .string($0) }
    members["actor"] = actor.map { .string("\($0)") }
    members["subject"] = subject.map { .string($0) }
    members["expires_at"] = expiresAt.map { .string(RFC3339.milliseconds($0)) }
    return EventFields(members)
  }
}
