import Database
import Foundation
import Outbox
import Support
import Testing
import Wire

/// Messages are written in the transaction of their cause and sent afterwards, to a server on loopback that fails in
/// several ways.
@Suite struct OutboxTests {
  @Test(arguments: engines) func aMessageIsSentWithItsCauseOrNotAtAll(engine: Engine) async throws {
    try await withOutbox(engine) { fixture in
      let outbox = try await fixture.outbox()
      let now = fixture.clock.now
      await #expect(throws: ReceiverFailure.self) {
        try await fixture.database.write { db in
          try outbox.add("letter", TestMessage(to: "bob", text: "never"), at: now, on: db)
          throw ReceiverFailure(status: 0)
        }
      }
      try await fixture.add("hello bob")
      try await running([outbox]) { try await eventually { fixture.receiver.accepted == ["hello bob"] } }
      #expect(fixture.receiver.requestCount == 1)
      #expect(try await fixture.count(where: "outcome = 'done' and content is null and due_at is null") == 1)
    }
  }

  @Test(arguments: engines) func contentsAreSealedAsLongAsTheyAreThere(engine: Engine) async throws {
    try await withOutbox(engine) { fixture in
      try await fixture.add("a secret code 493817")
      let stored = try await fixture.database.read { db in
        try db.row("select content from outbox")?.get("content", as: [UInt8].self) ?? []
      }
      #expect(stored.count > 20)
      #expect(!String(decoding: stored, as: UTF8.self).contains("493817"))
      // New messages are encrypted with the new key, the old key still decrypts.
      var later = fixture
      later.keys = OutboxFixture.dataKeys([
        "a newer key 0123456789 abcdefghijklmn", "a key for tests 0123456789 abcdefghij",
      ])
      let outbox = try await later.outbox()
      try await running([outbox]) { try await eventually { fixture.receiver.accepted == ["a secret code 493817"] } }
    }
  }

  @Test(arguments: engines) func nineFailuresAreWaitedOutLongerEachTime(engine: Engine) async throws {
    try await withOutbox(engine) { fixture in
      // No try comes before its failure was seen.
      fixture.clock.stop()
      fixture.receiver.behavior = .failing(9)
      try await fixture.add("at last")
      let outbox = try await fixture.outbox()
      var waits: [Double] = []
      try await running([outbox]) {
        for failure in 1...9 {
          try await eventually("failure \(failure)") {
            let tries = try await fixture.tries()
            let isBack = try await fixture.count(where: "lease is null and due_at is not null") == 1
            return tries == failure && isBack
          }
          waits.append(try #require(try await fixture.dueIn()))
          #expect(fixture.receiver.accepted.isEmpty)
          fixture.clock.advance(by: .seconds(5000))
        }
        try await eventually { fixture.receiver.accepted == ["at last"] }
      }
      #expect(fixture.receiver.requestCount == 10)
      for (index, wait) in waits.enumerated() {
        let expected = Double(2 << index)
        #expect((expected * 0.7 - 1...expected * 1.25 + 0.01).contains(wait), "wait \(index + 1): \(wait)")
      }
    }
  }

  @Test(arguments: engines) func whoHangsIsAskedAgain(engine: Engine) async throws {
    try await withOutbox(engine, { $0.timeout = .seconds(2) }) { fixture in
      fixture.clock.stop()
      fixture.receiver.behavior = .hanging
      try await fixture.add("hello")
      let outbox = try await fixture.outbox()
      try await running([outbox]) {
        try await eventually { try await fixture.count(where: "tries = 1 and lease is null") == 1 }
        fixture.receiver.behavior = .normal
        fixture.clock.advance(by: .seconds(10))
        try await eventually { fixture.receiver.accepted == ["hello"] }
      }
    }
  }

  @Test(arguments: engines) func whatMayHaveArrivedWaitsAsLongAsItSays(engine: Engine) async throws {
    // The shorter one is long enough for the request to arrive.
    for (timeout, isStopped) in [(Duration.seconds(2), false), (.seconds(20), true)] {
      try await withOutbox(
        engine,
        {
          $0.timeout = timeout
          $0.unknownOutcomeDelay = .seconds(30)
        }
      ) { fixture in
        fixture.clock.stop()
        fixture.receiver.behavior = .hanging
        try await fixture.add("hello")
        let outbox = try await fixture.outbox()
        try await running([outbox]) {
          try await eventually { fixture.receiver.requestCount == 1 }
          guard !isStopped else { return }
          try await eventually { try await fixture.count(where: "tries = 1 and lease is null") == 1 }
        }
        #expect(try await fixture.count(where: "tries = 1 and lease is null") == 1)
        #expect(try #require(try await fixture.dueIn()) > 25, "stopped: \(isStopped)")
      }
    }
  }

  @Test(arguments: engines) func whoHasDiedIsAskedAgainWhenItIsBack(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let database = try await testDatabase.open("outbox", [Outbox.migration])
      let port = try freePort()
      let receiver = RecordingServer(port: port)
      let fixture = OutboxFixture(database: database, receiver: receiver)
      fixture.clock.stop()
      try await running([receiver.server()]) {
        fixture.receiver.behavior = .failing(1)
        try await fixture.add("hello")
        let outbox = try await fixture.outbox()
        try await running([outbox]) {
          try await eventually { try await fixture.count(where: "tries = 1 and lease is null") == 1 }
        }
      }
      let outbox = try await fixture.outbox()
      fixture.clock.advance(by: .seconds(10))
      try await running([outbox]) {
        try await eventually { try await fixture.count(where: "tries = 2 and lease is null") == 1 }
        let back = RecordingServer(port: port)
        try await running([back.server()]) {
          _ = try await back.url
          fixture.clock.advance(by: .seconds(10))
          try await eventually { back.accepted == ["hello"] }
        }
      }
      await database.close()
    }
  }

  @Test(arguments: engines) func fourReplicasSendEachMessageOnce(engine: Engine) async throws {
    try await withOutbox(engine) { fixture in
      for number in 0..<120 { try await fixture.add("letter \(number)") }
      var replicas: [Outbox] = []
      for _ in 0..<4 { replicas.append(try await fixture.outbox()) }
      try await running(replicas) {
        try await eventually { try await fixture.count(where: "due_at is not null") == 0 }
      }
      #expect(fixture.receiver.accepted.count == 120)
      #expect(Set(fixture.receiver.accepted).count == 120)
    }
  }

  @Test(arguments: engines) func anOrderIsKeptThoughSomeFailAndManyWork(engine: Engine) async throws {
    // The clock jumps: no lease may expire by that.
    try await withOutbox(engine, { $0.timeout = .seconds(1_000_000) }) { fixture in
      fixture.receiver.behavior = .failing(7)
      for number in 0..<30 { try await fixture.add("\(number % 3)-\(10 + number)", orderingKey: "order \(number % 3)") }
      let replicas = [try await fixture.outbox(), try await fixture.outbox(), try await fixture.outbox()]
      try await running(replicas) {
        try await eventually {
          fixture.clock.advance(by: .seconds(30))
          return try await fixture.count(where: "due_at is not null") == 0
        }
      }
      #expect(fixture.receiver.accepted.count == 30)
      for order in 0..<3 {
        let sent = fixture.receiver.accepted.filter { $0.hasPrefix("\(order)-") }
        #expect(sent == sent.sorted(), "order \(order)")
      }
    }
  }

  @Test(arguments: engines) func oneCauseIsOneMessage(engine: Engine) async throws {
    try await withOutbox(engine) { fixture in
      let written = try await atOnce(20) { _ in try await fixture.add("welcome", deduplicationKey: "invite 7") }
      #expect(written.filter { $0 }.count == 1)
      let outbox = try await fixture.outbox()
      try await running([outbox]) { try await eventually { fixture.receiver.accepted == ["welcome"] } }
      #expect(try await fixture.add("welcome", deduplicationKey: "invite 7") == false)
    }
  }

  @Test(arguments: engines) func aUserIsForgottenWithTheirMessages(engine: Engine) async throws {
    try await withOutbox(engine) { fixture in
      let (alice, bob) = (UserID.new(at: Date()), UserID.new(at: Date()))
      try await fixture.add("to alice", user: alice)
      try await fixture.add("to bob", user: bob)
      let outbox = try await fixture.outbox()
      try await fixture.database.write { db in try outbox.erase(alice, on: db) }
      #expect(try await fixture.count(where: "user_id is not null") == 1)
      try await running([outbox]) { try await eventually { fixture.receiver.accepted == ["to bob"] } }
    }
  }
}
