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
    var fields: EventFields = ["id": id, "topics": topics, "name": name, "payload": payload, "at": at]
    fields.add("change", change?.fields)
    fields.add("changes", changes.isEmpty ? nil : changes.map(\.fields))
    fields.add("access", access?.map(\.fields))
    fields.add("hidden_from", hiddenFrom)
    fields.add("push", push?.fields)
    var text: [UInt8] = []
    text.reserveCapacity(Self.usualBytes)
    try fields.write(to: &text)
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

  fileprivate var fields: EventFields {
    var fields: EventFields = ["schema": "public", "table": table, "type": type.rawValue]
    fields.add("record", record)
    fields.add("old_record", oldRecord)
    return fields
  }
}

extension AccessChange {
  fileprivate var fields: EventFields { ["topic": topic, "user_id": user, "may_read": mayRead] }
}

extension PushDetails {
  fileprivate var fields: EventFields {
    var fields: EventFields = [:]
    fields.add("recipients", recipients)
    fields.add("readers_of", readersOf)
    fields.add("actor", actor)
    fields.add("subject", subject)
    fields.add("expires_at", expiresAt)
    return fields
  }
}
