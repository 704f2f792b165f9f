import Database
import Foundation
import Support
import Testing
import Wire

@testable import Events

/// Notifications where several replicas share a PostgreSQL database.
@Suite struct SharedPushTests {
  /// Two replicas with one database and one stand-in for APNs.
  private func withReplicas(
    _ body: (EventsFixture, EventsFixture, APNsServer) async throws -> Void
  ) async throws {
    guard engines.contains(.postgres) else { return }
    try await withAPNs { apns, _ in
      let settings = try apns.settings()
      try await withEvents(.postgres, settings) { first in
        try await withEvents(on: first.testDatabase, first.owner, settings) { second in
          try await body(first, second, apns)
        }
      }
    }
  }

  private func openTopics(_ fixture: EventsFixture) async throws -> Int {
    try await fixture.testDatabase.count("open_topic", in: "events")
  }

  @Test func aSocketOnAnyReplicaKeepsNotificationsBack() async throws {
    try await withReplicas { first, second, apns in
      let (alice, bob) = (try first.reader(of: "lists:42"), try first.person())
      try await first.device(alice)
      let socket = try await SocketClient.connect(second)
      _ = try await socket.join("realtime:lists:42", alice.token)
      try await eventually("the open topic") { try await openTopics(first) == 1 }
      // Whichever replica plans them.
      for number in 1...5 {
        try await first.deliver([first.assignment("Seen \(number)", to: alice, by: bob)])
        try await first.settled()
      }
      #expect(apns.requestCount == 0)
      // Another list is not open.
      try await first.deliver([first.assignment("Elsewhere", to: alice, by: bob, list: 43)])
      try await eventually("the notification") { apns.accepted.count == 1 }
      try await socket.close()
      try await eventually("no open topic") { try await openTopics(first) == 0 }
      try await first.deliver([first.assignment("Away", to: alice, by: bob)])
      try await eventually("the notification after the socket was closed") {
        apns.accepted.contains { $0.text?.contains("Away") == true }
      }
    }
  }

  @Test func aStreamKeepsThemBackAsWell() async throws {
    try await withReplicas { first, second, apns in
      let (alice, bob) = (try first.reader(of: "lists:42"), try first.person())
      try await first.device(alice)
      let stream = try await EventStreamClient(second.events, "topic=lists:42", token: alice.token)
      #expect(stream.status == 200)
      try await eventually("the open topic") { try await openTopics(first) == 1 }
      for number in 1...5 {
        try await first.deliver([first.assignment("Seen \(number)", to: alice, by: bob)])
        try await first.settled()
      }
      #expect(apns.requestCount == 0)
    }
  }

  @Test func whatAReplicaHadOpenCountsUntilItsLeaseEnds() async throws {
    try await withReplicas { first, second, apns in
      let (alice, bob) = (try first.person(), try first.reader(of: "lists:43"))
      try await first.device(alice)
      // A replica that was killed: its rows stay.
      let gone = ReplicaStore(database: try await first.testDatabase.open("events", []))
      try await gone.setLease(of: "gone", until: first.clock.now + 15)
      try await OpenTopicStore(database: gone.database).change(
        [(OpenTopicStore.Entry(topic: "lists:42", user: alice.id), true)], of: "gone")
      try await first.deliver([first.assignment("Seen", to: alice, by: bob)])
      try await first.settled()
      #expect(apns.requestCount == 0)
      for fixture in [first, second] { fixture.clock.advance(by: .seconds(16)) }
      try await first.deliver([first.assignment("Away", to: alice, by: bob)])
      try await eventually("the notification") { apns.accepted.count == 1 }
      // Only a replica that has sockets itself removes what is of others.
      let socket = try await SocketClient.connect(first)
      _ = try await socket.join("realtime:lists:43", bob.token)
      try await eventually("nothing of it") {
        try await first.testDatabase.count("open_topic where replica = 'gone'", in: "events") == 0
      }
      await gone.database.close()
    }
  }

  @Test func aUsersDataHaveTheOpenTopicsUntilTheyAreErased() async throws {
    try await withReplicas { first, second, _ in
      let alice = try first.reader(of: "lists:42")
      let socket = try await SocketClient.connect(second)
      _ = try await socket.join("realtime:lists:42", alice.token)
      try await eventually("the open topic") { try await openTopics(first) == 1 }
      let auth = first.events.with(["X-Service-Key": TestStack.keys["auth"] ?? ""])
      let path = "/internal/users/\(alice.id)/data"
      #expect(try await auth.get(path)["open_topics"] as? [String] == ["lists:42"])
      #expect(try await auth.send(.DELETE, path).status < 300)
      #expect(try await auth.get(path)["open_topics"] as? [String] == [])
    }
  }
}
