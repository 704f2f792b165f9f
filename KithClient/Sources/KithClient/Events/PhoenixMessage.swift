import Foundation

/// A message of Phoenix channels in version 2 of their serialization: `[join_ref, ref, topic, event, payload]`.
struct PhoenixMessage: Sendable, Equatable {
  /// The `ref` of the join that the message belongs to.
  var joinRef: String?
  /// Of a request, and of its reply.
  var ref: String?
  let topic: String
  let event: String
  var payload: JSONValue = .object([:])
}

extension PhoenixMessage {
  /// nil for what is no message.
  init?(text: String) {
    // `try?`: a newer server may send other frames, which are left out.
    guard let parts = try? JSONDecoder().decode([JSONValue].self, from: Data(text.utf8)), parts.count == 5,
      let topic = parts[2].string, let event = parts[3].string
    else { return nil }
    self.init(joinRef: parts[0].string, ref: parts[1].string, topic: topic, event: event, payload: parts[4])
  }

  func text() throws -> String {
    let parts: [JSONValue] = [
      joinRef.map(JSONValue.string) ?? .null, ref.map(JSONValue.string) ?? .null, .string(topic), .string(event),
      payload,
    ]
    return String(decoding: try JSONEncoder().encode(parts), as: UTF8.self)
  }
}
