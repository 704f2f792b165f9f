import Foundation
import Testing
import Wire

@testable import EventFeed

/// Events are written as JSON without an encoder.
@Suite struct NewEventTests {
  private static let now = Date(timeIntervalSince1970: 1_790_000_000.125)
  private static let odd = "a \"quoted\" \\ line\n\ttab \u{0} \u{1F} \u{7F} \u{2028} 🛒 Äpfel e\u{301} </script>"
  private static let value = JSONValue.object([
    odd: .string(odd), "": .null, "list": .array([.integer(.min), .integer(.max), .bool(true), .array([])]),
    "half": .number(0.5), "large": .number(1e300), "whole": .number(2), "object": .object([:]), "not": .bool(false),
  ])

  @Test func anEventIsReadAsItWas() throws {
    let (id, now, odd, value) = (EventID.new(at: Self.now), Self.now, Self.odd, Self.value)
    let access = [AccessChange(topic: "lists:1", user: .new(at: now), mayRead: false)]
    let hiddenFrom: [UserID] = [.new(at: now), .new(at: now)]
    let push = PushDetails(
      recipients: [.new(at: now)], readersOf: "social_groups:1", actor: .new(at: now), subject: odd, expiresAt: now)
    let nothing: Int? = nil
    let event = NewEvent(
      id: id, topics: ["lists:1", odd], name: "task_changed", payload: ["value": value, odd: nothing, "user": id],
      at: now, change: .of("tasks", .update, key: ["id": 1], ["at": now, "list": [true, false]]), access: access,
      hiddenFrom: hiddenFrom, push: push)
    let expected = FeedEvent(
      id: id, topics: ["lists:1", odd], name: "task_changed",
      payload: .object(["value": read(value), odd: .null, "user": .string("\(id)")]), at: now,
      change: RowChange(
        table: "tasks", type: .update,
        record: .object([
          "id": .integer(1), "at": .string(RFC3339.milliseconds(now)), "list": .array([.bool(true), .bool(false)]),
        ]), oldRecord: .object(["id": .integer(1)])),
      access: access, hiddenFrom: hiddenFrom, push: push)
    let text = try event.text()
    #expect(try JSON.decode(FeedEvent.self, from: Data(text.utf8)) == expected)
    // No other member, and no other spelling.
    let members = try JSON.decode(JSONValue.self, from: Data(text.utf8))
    #expect(try members == JSON.decode(JSONValue.self, from: JSON.encodeExact(expected)))
  }

  @Test func anEventHasNoMemberForWhatItHasNot() throws {
    let event = NewEvent(id: .new(at: Self.now), topics: [], name: "", payload: [:], at: Self.now)
    let expected = FeedEvent(id: event.id, topics: [], name: "", payload: .object([:]), at: Self.now)
    let text = try event.text()
    #expect(
      try JSON.decode(JSONValue.self, from: Data(text.utf8))
        == JSON.decode(
          JSONValue.self, from: JSON.encodeExact(expected)))
  }

  @Test func anEventHasTheChangesOfSeveralRows() throws {
    let changes: [EventChange] = [
      .of("tasks", .delete, key: ["id": 1]), .of("tasks", .insert, key: ["id": 2], ["a": "b"]),
    ]
    let event = NewEvent(
      id: .new(at: Self.now), topics: ["lists:1"], name: "a", payload: [:], at: Self.now, changes: changes[...])
    #expect(
      try JSON.decode(FeedEvent.self, from: Data(event.text().utf8)).changes == [
        RowChange(table: "tasks", type: .delete, record: nil, oldRecord: .object(["id": .integer(1)])),
        RowChange(table: "tasks", type: .insert, record: .object(["id": .integer(2), "a": .string("b")])),
      ])
  }

  @Test func aDeletedRowHasOnlyItsKeyAndANewOneHasNoEarlier() throws {
    func change(_ change: EventChange) throws -> RowChange? {
      let event = NewEvent(
        id: .new(at: Self.now), topics: ["lists:1"], name: "a", payload: [:], at: Self.now, change: change)
      return try JSON.decode(FeedEvent.self, from: Data(event.text().utf8)).change
    }
    let (key, row) = (["id": JSONValue.integer(1)], ["id": JSONValue.integer(1), "title": .string("milk")])
    #expect(
      try change(.of("tasks", .delete, key: ["id": 1], ["title": "milk"]))
        == RowChange(table: "tasks", type: .delete, record: nil, oldRecord: .object(key)))
    #expect(
      try change(.of("tasks", .insert, key: ["id": 1], ["title": "milk"]))
        == RowChange(table: "tasks", type: .insert, record: .object(row)))
  }

  @Test func aNumberThatJSONDoesNotHaveIsRefused() {
    #expect(throws: EncodingError.self) {
      try NewEvent(
        id: .new(at: Self.now), topics: [], name: "", payload: ["distance": JSONValue.number(.infinity)], at: Self.now
      ).text()
    }
  }

  /// A value is written as by the encoder, with the members of objects in the order of their names.
  @Test func aValueIsWrittenAsByTheEncoder() throws {
    var text: [UInt8] = []
    try Self.value.write(to: &text)
    #expect(try Data(text) == JSON.encode(Self.value))
  }

  /// What a reader makes of a value: a whole number has no fraction.
  private func read(_ value: JSONValue) -> JSONValue {
    guard case .object(var members) = value else { return value }
    members["whole"] = .integer(2)
    return .object(members)
  }
}
