import Database
import Foundation
import Support
import Testing
import Wire

/// A topic ends for everybody when its thing is deleted, whoever has it open.
@Suite struct EndOfTopicTests {
  private static let topic = "scavenger_hunts:01a1fd42-9c11-7f3e-8d25-5b7a3c9e1f04"
  private static let ended = "You no longer have permission to read from this Channel topic: \(topic)"
  private static let rows = #""postgres_changes":[{"event":"*","schema":"*"}]"#

  private func deliverEnd(_ fixture: EventsFixture) async throws {
    let deletion = RowChange(
      table: "scavenger_hunts", type: .delete, record: nil, oldRecord: .object(["id": .string("one")]))
    try await fixture.deliver([
      fixture.event(
        1, Self.topic, name: "hunt_deleted", change: deletion, access: [AccessChange.end(of: Self.topic)]),
      fixture.event(2, Self.topic, change: deletion),
    ])
  }

  @Test(arguments: engines) func allChannelsOfItAreToldAndClosed(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let people = [try fixture.reader(of: Self.topic), try fixture.reader(of: Self.topic, "lists:42")]
      var sockets: [SocketClient] = []
      for person in people {
        let socket = try await SocketClient.connect(fixture)
        #expect(try await socket.join("realtime:\(Self.topic)", person.token).status == "ok")
        sockets.append(socket)
      }
      let any = try await SocketClient.connect(fixture)
      #expect(try await any.join("realtime:anything", people[1].token, Self.rows).status == "ok")
      for person in people { fixture.owner.forbid(person.id, Self.topic) }
      try await deliverEnd(fixture)
      for (socket, person) in zip(sockets, people) {
        #expect(try await socket.nextEvent().name == "hunt_deleted")
        #expect(try await socket.next { $0.event == "system" }.payload["message"] == .string(Self.ended))
        #expect(try await socket.next().event == "phx_close")
        #expect(try await socket.settled().isEmpty)
        // Not even from the cache.
        let again = try await socket.join("realtime:\(Self.topic)", person.token)
        #expect(again.reason?.hasPrefix("Unauthorized") == true)
      }
      // Rows of it come once more, and those of other topics as before.
      try await fixture.deliver([
        fixture.event(
          3, "lists:42", change: RowChange(table: "tasks", type: .insert, record: .object(["number": .integer(3)])))
      ])
      let changes = try await any.nextEvents(2).map { $0.payload["data"]?["table"]?.string }
      #expect(changes == ["scavenger_hunts", "tasks"])
    }
  }

  @Test(arguments: engines) func streamsOfItAreToldAndEnd(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let alice = try fixture.reader(of: Self.topic)
      var stream = try await EventStreamClient(fixture.events, "topic=\(Self.topic)", token: alice.token)
      #expect(try await stream.nextBlock()?.seq == 0)
      try await deliverEnd(fixture)
      #expect(try await stream.next()?.name == "hunt_deleted")
      #expect(try await stream.next()?.name == "system")
      #expect(try await stream.next() == nil)
    }
  }
}
