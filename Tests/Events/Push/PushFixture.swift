import Database
import Foundation
import Support
import Testing
import Web
import Wire

@testable import Events

extension EventsFixture {
  /// Registers a device of the person, with a token that no other device has.
  @discardableResult
  func device(_ person: Person, _ fields: [String: String] = [:]) async throws -> String {
    let token = UUID().uuidString.replacing("-", with: "").lowercased() + String(repeating: "0a", count: 16)
    let body = ["device_token": token, "platform": "ios"].merging(fields) { $1 }
    let reply = try await browser(person).post("/api/devices/register", body)
    guard reply.status == 200 else { throw Unexpected(reply: reply.text) }
    return token
  }

  func browser(_ person: Person) -> Browser { events.bearing(person.token) }

  /// A task of list 42 is assigned to somebody, which is news of which they are notified.
  func assignment(
    _ title: String, to person: Person, by other: Person, list: Int = 42, hidden: Bool = false
  ) -> FeedEvent {
    FeedEvent(
      id: .new(at: clock.now), topics: ["lists:\(list)"], name: "task_assigned",
      payload: .object([
        "list_id": .integer(list), "task_id": .integer(7), "assignee_id": .string(person.id.description),
        "by": .string(other.id.description),
      ]), at: clock.now,
      change: RowChange(
        table: "tasks", type: .update,
        record: .object(["id": .integer(7), "title": .string(title), "hidden": .bool(hidden)]),
        oldRecord: .object(["id": .integer(7)])))
  }

  /// Waits until every event is planned, and every alert that is due is sent.
  func settled() async throws {
    try await eventually("all messages are sent") {
      // Changes of lists wait for the end of the minute. While one is worked on, it is due when its lease ends.
      let planned = try await testDatabase.count(
        """
        inbox where due_at is not null
          and (kind = 'notified_event' or due_at <= \(clock.now) or lease is not null)
        """, in: "events")
      let sent = try await testDatabase.count("outbox where due_at is not null and kind = 'alert'", in: "events")
      return planned == 0 && sent == 0
    }
  }

  /// Waits until the last try of every alert that waits is recorded.
  func tried() async throws {
    try await eventually("the tries are recorded") {
      try await testDatabase.count("outbox where lease is not null and due_at is not null", in: "events") == 0
    }
  }
}

/// The events service with a stand-in for APNs.
func withPushes(
  _ engine: Engine, _ overrides: [String: String] = [:], _ body: (EventsFixture, APNsServer) async throws -> Void
) async throws {
  try await withAPNs { apns, _ in
    try await withEvents(engine, apns.settings().merging(overrides) { $1 }) { fixture in
      apns.clock = fixture.clock
      try await body(fixture, apns)
    }
  }
}

/// - Parameter body: is given the folder of the certificate as well.
func withAPNs(_ body: (APNsServer, String) async throws -> Void) async throws {
  try await withCertificate { folder in
    let apns = APNsServer(folder: folder)
    try await apns.start()
    do { try await body(apns, folder) } catch {
      try await apns.stop()
      throw error
    }
    try await apns.stop()
  }
}
