import Foundation
import Wire

/// Writes events as JSON. `JSONEncoder` takes about fifteen times as long for a value of any shape, which would be a
/// large part of what an event costs the request that records it.
struct EventText {
  private var bytes: [UInt8] = []

  /// The same that `JSON.encodeExact` would encode, but for the order of members.
  static func of(_ event: FeedEvent) -> String {
    var text = EventText()
    text.bytes.reserveCapacity(1024)
    text.write(event.json)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  private mutating func write(_ value: JSONValue) {
    switch value {
    case .null: write("null")
    case .bool(let value): write(value ? "true" : "false")
    case .integer(let value): write(String(value))
    // JSON has no other numbers.
    case .number(let value): write(value.isFinite ? "\(value)" : "null")
    case .string(let value): writeQuoted(value)
    case .array(let values):
      write("[")
      for (index, value) in values.enumerated() {
        if index > 0 { write(",") }
        write(value)
      }
      write("]")
    case .object(let members): write(members)
    }
  }

  private mutating func write(_ members: [String: JSONValue]) {
    write("{")
    for (index, (name, value)) in members.enumerated() {
      if index > 0 { write(",") }
      writeQuoted(name)
      write(":")
      write(value)
    }
    write("}")
  }

  private mutating func write(_ text: String) { bytes += text.utf8 }

  /// Escapes what RFC 8259 §7 requires: quotation marks, backslashes and control characters.
  private mutating func writeQuoted(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20: bytes += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

extension FeedEvent {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "id": id.json, "topics": topics.json, "name": name.json, "payload": payload, "at": at.json,
    ]
    members["change"] = change?.json
    members["access"] = access.map { .array($0.map(\.json)) }
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
