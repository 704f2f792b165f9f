import Foundation
import NIOCore
import Wire

/// The two serializations of Phoenix channels, which a client chooses by `vsn`.
enum PhoenixVersion: String, Sendable, Hashable {
  case v1 = "1.0.0"
  case v2 = "2.0.0"
}

/// A message from a client.
struct PhoenixMessage: Sendable {
  /// The content of a broadcast, which is passed on to others.
  struct Broadcast: Sendable {
    let event: String
    let content: BroadcastContent
  }

  let joinRef: String?
  let ref: String?
  let topic: String
  let event: String
  let payload: JSONValue
  /// nil when the payload is none, or none that can be passed on.
  let broadcast: Broadcast?

  /// - Returns: nil for a frame that is not a message.
  init?(text: ByteBuffer, _ version: PhoenixVersion) {
    // `try?`: clients may send anything; what is not a message is dropped.
    guard let value = try? JSON.decode(JSONValue.self, from: Data(buffer: text)) else { return nil }
    switch (version, value) {
    case (.v1, .object(let members)):
      self.init(
        joinRef: members["join_ref"], ref: members["ref"], topic: members["topic"], event: members["event"],
        payload: members["payload"] ?? .object([:]))
    case (.v2, .array(let parts)) where parts.count == 5:
      self.init(joinRef: parts[0], ref: parts[1], topic: parts[2], event: parts[3], payload: parts[4])
    default: return nil
    }
  }

  private init?(joinRef: JSONValue?, ref: JSONValue?, topic: JSONValue?, event: JSONValue?, payload: JSONValue) {
    guard case .string(let topic)? = topic, case .string(let event)? = event else { return nil }
    self.joinRef = joinRef?.reference
    self.ref = ref?.reference
    self.topic = topic
    self.event = event
    self.payload = payload
    broadcast = event == "broadcast" ? Broadcast(payload) : nil
  }

  /// A binary frame of version 2: a broadcast of Supabase's clients (0x03), or a push of Phoenix' own (0x00).
  init?(binary: ByteBuffer) {
    var rest = binary
    guard let kind = rest.readInteger(as: UInt8.self), kind == 0x03 || kind == 0x00,
      var lengths = rest.readBytes(length: kind == 0x03 ? 6 : 4)
    else { return nil }
    let isJSON = kind == 0x03 && lengths.removeLast() == 1
    var fields: [String] = []
    for length in lengths {
      guard let bytes = rest.readSlice(length: Int(length)),
        let text = String(validating: bytes.readableBytesView, as: UTF8.self)
      else { return nil }
      fields.append(text)
    }
    joinRef = fields[0].isEmpty ? nil : fields[0]
    ref = fields[1].isEmpty ? nil : fields[1]
    topic = fields[2]
    event = "broadcast"
    payload = .object([:])
    if isJSON {
      // `try?`: as above.
      guard let value = try? JSON.decode(JSONValue.self, from: Data(buffer: rest)) else { return nil }
      broadcast = Broadcast(event: fields[3], value)
    } else {
      broadcast = Broadcast(event: fields[3], content: .binary(Data(buffer: rest)))
    }
  }
}

/// What a broadcast carries: an object as JSON text, or bytes, which only clients of version 2 can receive.
enum BroadcastContent: Sendable, Hashable {
  case json(String)
  case binary(Data)
}

extension PhoenixMessage.Broadcast {
  /// nil when there is no event.
  fileprivate init?(_ payload: JSONValue) {
    guard case .string(let event)? = payload["event"] else { return nil }
    self.init(event: event, payload["payload"] ?? .object([:]))
  }

  /// nil when the value is not an object: Python's client accepts nothing else.
  init?(event: String, _ value: JSONValue) {
    guard case .object = value, let data = try? JSON.encodeExact(value) else { return nil }
    self.init(event: event, content: .json(String(decoding: data, as: UTF8.self)))
  }
}

extension JSONValue {
  /// A `ref`, which clients send as a string or a number.
  fileprivate var reference: String? {
    switch self {
    case .string(let text): text
    case .integer(let number): String(number)
    default: nil
    }
  }

  /// A flag, which clients also send as "true" and "True".
  var flag: Bool {
    switch self {
    case .bool(let value): value
    case .string(let text): text.lowercased() == "true"
    default: false
    }
  }

  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }
}
