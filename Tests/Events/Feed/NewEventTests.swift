import Foundation
import Testing
import Wire

@testable import EventFeed

/// Events are written as JSON without the generic encoder.
@Suite struct EventTextTests {
  @Test func anEventIsReadAsItWas() throws {
    let now = Date(timeIntervalSince1970: 1_790_000_000.125)
    let odd = "a \"quoted\" \\ line\n\ttab \u{0} \u{1F} \u{7F} \u{2028} 🛒 Äpfel e\u{301} </script>"
    let payload = JSONValue.object([
      odd: .string(odd), "": .null, "list": .array([.integer(.min), .integer(.max), .bool(true), .array([])]),
      "half": .number(0.5), "large": .number(1e300), "object": .object([:]), "not": .bool(false),
    ])
    let event = FeedEvent(
      id: .new(at: now), topics: ["lists:1", odd], name: "task_changed", payload: payload, at: now,
      change: RowChange(table: "tasks", type: .update, record: payload, oldRecord: .object(["id": .integer(1)])),
      access: [AccessChange(topic: "lists:1", user: .new(at: now), mayRead: false)],
      hiddenFrom: [.new(at: now), .new(at: now)],
      push: PushDetails(
        recipients: [.new(at: now)], readersOf: "social_groups:1", actor: .new(at: now), subject: odd, expiresAt: now))
    #expect(try JSON.decode(FeedEvent.self, from: Data(EventText.of(event).utf8)) == event)
    let least = FeedEvent(id: .new(at: now), topics: [], name: "", payload: .object([:]), at: now)
    #expect(try JSON.decode(FeedEvent.self, from: Data(EventText.of(least).utf8)) == least)
    // No other member, and no other spelling.
    let members = try JSON.decode(JSONValue.self, from: Data(EventText.of(event).utf8))
    #expect(try members == JSON.decode(JSONValue.self, from: JSON.encodeExact(event)))
  }
}
