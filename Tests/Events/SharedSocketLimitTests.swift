import Database
import Foundation
import Support
import Testing
import Wire

/// The sockets and streams of a user are counted over all replicas that share a PostgreSQL database.
@Suite struct SharedSocketLimitTests {
  private static let refusal = "ConnectionRateLimitReached: Too many connected users"
  private static let two = ["EVENTS_SOCKETS_PER_USER": "2"]

  /// Two replicas with one database.
  private func withReplicas(
    _ settings: [String: String] = two, _ body: (EventsFixture, EventsFixture) async throws -> Void
  ) async throws {
    guard engines.contains(.postgres) else { return }
    try await withEvents(.postgres, settings) { first in
      try await withEvents(on: first.testDatabase, first.owner, settings) { second in try await body(first, second) }
    }
  }

  /// A socket of the person with a channel, and why that was refused.
  private func join(
    _ fixture: EventsFixture, _ person: EventsFixture.Person
  ) async throws -> (socket: SocketClient, refusal: String?) {
    let socket = try await SocketClient.connect(fixture)
    return (socket, try await socket.join("users:\(person.id)", person.token).reason)
  }

  @Test func ofFiftySocketsAtOnceOverTwoReplicasTenJoin() async throws {
    try await withReplicas([:]) { first, second in
      let alice = try first.person()
      var sockets: [SocketClient] = []
      for number in 0..<50 { sockets.append(try await SocketClient.connect(number % 2 == 0 ? first : second)) }
      let joined = try await withThrowingTaskGroup { group in
        for socket in sockets {
          group.addTask { (socket, try await socket.join("users:\(alice.id)", alice.token).reason) }
        }
        return try await group.reduce(into: [(SocketClient, String?)]()) { $0.append($1) }
      }
      let open = joined.filter { $0.1 == nil }.map(\.0)
      #expect(open.count == 10)
      #expect(joined.compactMap(\.1) == Array(repeating: Self.refusal, count: 40))
      let counted = (try await first.refusals("sockets"), try await second.refusals("sockets"))
      #expect(counted.0 + counted.1 == 40)
      #expect(try await first.testDatabase.count("open_connection", in: "events") == 10)
      // One that closes makes room for one, on either replica.
      try await open[0].close()
      let next = try await SocketClient.connect(second)
      try await eventually("room") { try await next.join("users:\(alice.id)", alice.token).status == "ok" }
      #expect(try await join(first, alice).refusal == Self.refusal)
      #expect(try await join(second, alice).refusal == Self.refusal)
      // Somebody else is not concerned.
      let bob = try first.person()
      #expect(try await join(first, bob).refusal == nil)
    }
  }

  @Test func streamsCountAsSocketsDo() async throws {
    try await withReplicas { first, second in
      let alice = try first.person()
      var stream = try await EventStreamClient(first.events, "topic=users:\(alice.id)", token: alice.token)
      #expect(stream.status == 200)
      let another = try first.person(alice.id)
      #expect(try await join(second, another).refusal == nil)
      #expect(try await join(second, another).refusal == Self.refusal)
      let refused = try await EventStreamClient(second.events, "topic=users:\(alice.id)", token: another.token)
      #expect(refused.status == 429)
      first.end(alice.session)
      while try await stream.nextBlock() != nil {}
      let socket = try await SocketClient.connect(second)
      try await eventually("room") { try await socket.join("users:\(alice.id)", another.token).status == "ok" }
    }
  }

  @Test func whatAReplicaHadOpenEndsWithIt() async throws {
    guard engines.contains(.postgres) else { return }
    try await withEvents(.postgres, Self.two) { first in
      let alice = try first.person()
      try await withEvents(on: first.testDatabase, first.owner, Self.two) { second in
        let joins = [try await join(second, alice), try await join(second, alice), try await join(first, alice)]
        #expect(joins.map(\.refusal) == [nil, nil, Self.refusal])
      }
      #expect(try await join(first, alice).refusal == nil)
    }
  }

  @Test func whatAKilledReplicaHadOpenEndsWithItsLease() async throws {
    guard engines.contains(.postgres) else { return }
    try await withEvents(.postgres, Self.two) { fixture in
      let processes = try ServiceProcesses(["auth", "events"], in: fixture.testDatabase, Self.two)
      for process in processes.all.values { try await process.healthy("/health/ready") }
      let replica = try #require(processes.all["events"])
      let port = try #require(replica.environment["PORT"].flatMap { Int($0) })
      let alice = try fixture.person()
      for _ in 0..<2 {
        let socket = try await SocketClient.connect(port: port)
        #expect(try await socket.join("users:\(alice.id)", alice.token).status == "ok")
      }
      #expect(try await join(fixture, alice).refusal == Self.refusal)
      await replica.kill()
      fixture.clock.advance(by: .seconds(20))
      #expect(try await join(fixture, alice).refusal == nil)
      try await eventually("nothing of the killed replica") {
        try await fixture.testDatabase.count("open_connection", in: "events") == 1
      }
      _ = await processes.all["auth"]?.stop()
    }
  }

  @Test func withoutTheDatabaseAReplicaCountsForItself() async throws {
    try await withReplicas { first, second in
      let (alice, database) = (try first.person(), first.testDatabase)
      try await executeSQL(database.databaseURL, "alter table events.open_connection rename to gone")
      for _ in 0..<2 { #expect(try await join(first, alice).refusal == nil) }
      #expect(try await join(first, alice).refusal == Self.refusal)
      try await executeSQL(database.databaseURL, "alter table events.gone rename to open_connection")
      try await eventually("the sockets in the database") {
        try await database.count("open_connection", in: "events") == 2
      }
      #expect(try await join(second, alice).refusal == Self.refusal)
    }
  }

  @Test func aUsersDataHaveWhatIsOpenUntilTheyAreErased() async throws {
    try await withReplicas { first, second in
      let alice = try first.person()
      #expect(try await join(second, alice).refusal == nil)
      let auth = first.events.with(["X-Service-Key": TestStack.keys["auth"] ?? ""])
      let path = "/internal/users/\(alice.id)/data"
      #expect(try await auth.get(path).int("open_connections") == 1)
      #expect(try await auth.send(.DELETE, path).status < 300)
      #expect(try await auth.get(path).int("open_connections") == 0)
    }
  }

  @Test func aReplicaThatWasTakenForDeadCountsAgain() async throws {
    try await withReplicas { first, second in
      let (alice, bob, database) = (try first.person(), try first.person(), first.testDatabase)
      for _ in 0..<2 { #expect(try await join(first, alice).refusal == nil) }
      // Only a replica that has sockets itself removes what is of others.
      #expect(try await join(second, bob).refusal == nil)
      second.clock.advance(by: .seconds(30))
      try await eventually("no sockets of the first") {
        try await database.count("open_connection", in: "events") == 1
      }
      first.clock.advance(by: .seconds(30))
      try await eventually("the sockets of the first") {
        try await database.count("open_connection", in: "events") == 3
      }
      #expect(try await join(second, alice).refusal == Self.refusal)
    }
  }
}
