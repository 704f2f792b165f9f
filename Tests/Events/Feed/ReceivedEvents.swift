import Foundation
import NIOHTTP1
import Support
import Wire

extension EventsReceiver {
  func names(on topic: String) -> [String] { events(on: topic).map(\.name) }

  /// The last event of this name on a topic, once there is one.
  func event(_ name: String, on topic: String) async throws -> FeedEvent {
    try await eventually("\(name) on \(topic), which has \(names(on: topic))") {
      events(on: topic).contains { $0.name == name }
    }
    guard let event = events(on: topic).last(where: { $0.name == name }) else { throw Unexpected(reply: name) }
    return event
  }
}

extension EventsReceiver {
  /// The changed rows of the last event of this name on a topic, and of the events after it that have the rest, once
  /// there are so many.
  func rows(_ count: Int, of name: String, on topic: String) async throws -> [RowChange] {
    var rows: [RowChange] = []
    try await eventually("\(count) rows of \(name) on \(topic), which has \(names(on: topic))") {
      let told = events(on: topic)
      guard let last = told.lastIndex(where: { $0.name == name }) else { return false }
      rows = told[last].rows + told[(last + 1)...].prefix { $0.name == "rows_changed" }.flatMap(\.rows)
      return rows.count == count
    }
    return rows
  }
}

extension FeedEvent {
  var rows: [RowChange] { [change].compactMap(\.self) + (changes ?? []) }

  func text(_ member: String) -> String? {
    guard case .string(let value)? = payload[member] else { return nil }
    return value
  }

  func number(_ member: String) -> Int? {
    guard case .integer(let value)? = payload[member] else { return nil }
    return value
  }

  /// Everything that a client may receive of it, as text.
  var shown: String {
    get throws {
      String(
        decoding: try JSON.encodeExact([payload, change?.record ?? .null, change?.oldRecord ?? .null]), as: UTF8.self)
    }
  }
}

extension Browser {
  /// Makes a request that must succeed.
  @discardableResult
  func done(_ method: HTTPMethod, _ path: String, _ body: [String: any Sendable]? = nil) async throws -> Reply {
    let reply = try await send(method, path, body: try body.map { try JSONSerialization.data(withJSONObject: $0) })
    guard reply.status < 300 else { throw Unexpected(reply: "\(method) \(path): \(reply.text)") }
    return reply
  }
}

extension Browser.Reply {
  /// The number that identifies the object `name`.
  func id(of name: String) -> Int { ((self[name] as? [String: Any])?["id"] as? NSNumber)?.intValue ?? 0 }
}
