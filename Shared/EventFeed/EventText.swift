import Foundation
import Wire

/// Writes events as JSON. `JSONEncoder` takes about ten times as long, which would be a large part of what an event costs
/// the request that records it.
enum EventText {
  /// The same that `JSON.encodeExact` would encode.
  ///
  /// - Throws: `EncodingError` for a number that is not finite.
  static func of(_ event: FeedEvent) throws -> String { String(decoding: try JSON.encode(event.json), as: UTF8.self) }
}

extension FeedEvent {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "id": id.json, "topics": topics.json, "name": name.json, "payload": payload, "at": at.json,
    ]
    members["change"] = change?.json
    members["access"] = access.map { .array($0.map(\.json)) }
    members["hidden_from"] = hiddenFrom.map { .array($0.map(\.json)) }
    members["push"] = push?.json
    return .object(members)
  }
}

extension PushDetails {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [:]
    members["recipients"] = recipients.map { .array($0.map(\.json)) }
    members["readers_of"] = readersOf?.json
    members["actor"] = actor?.json
    members["subject"] = subject?.json
    members["expires_at"] = expiresAt?.json
    return .object(members)
  }
}

extension AccessChange {
  fileprivate var json: JSONValue {
    .object(["topic": topic.json, "user_id": user.json, "may_read": mayRead.json])
  }
}
