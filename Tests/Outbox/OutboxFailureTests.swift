import Database
import Foundation
import Outbox
import Support
import Synchronization
import Testing
import Web

/// Messages that cannot be sent, workers that die, and the logs and metrics about them.
@Suite struct OutboxFailureTests {
  @Test(arguments: engines) func aDayLaterItIsGivenUpLoudly(engine: Engine) async throws {
    let lines = RecordedLog()
    try await withOutbox(engine, { $0.logger = lines.logger }) { fixture in
      fixture.clock.stop()
      fixture.receiver.behavior = .failing(1000)
      try await fixture.add("the secret text")
      let outbox = try await fixture.outbox()
      try await running([outbox]) {
        try await eventually { try await fixture.count(where: "tries = 1 and lease is null") == 1 }
        fixture.clock.advance(by: .seconds(86_300))
        try await eventually { try await fixture.count(where: "tries = 2 and lease is null") == 1 }
        #expect(try await fixture.count(where: "outcome is null") == 1)
        fixture.clock.advance(by: .seconds(200))
        try await eventually { try await fixture.count(where: "outcome = 'given_up'") == 1 }
      }
      #expect(try await fixture.count(where: "content is null and due_at is null") == 1)
      let text = fixture.registry.text()
      #expect(text.contains("kith_outbox_tries_total{kind=\"letter\",outcome=\"given_up\"} 1"))
      #expect(text.contains("kith_outbox_tries_total{kind=\"letter\",outcome=\"postponed\"} 2"))
    }
    #expect(lines.all.contains { $0.level == .error && $0.text.contains("given up") })
    #expect(!lines.all.contains { $0.text.contains("secret") })
  }

  @Test(arguments: engines) func whatWillNeverArriveIsNotTriedAgain(engine: Engine) async throws {
    try await withOutbox(engine) { fixture in
      try await fixture.add("hello", to: "nowhere")
      try await fixture.add("hello bob")
      let outbox = try await fixture.outbox()
      try await running([outbox]) { try await eventually { try await fixture.count(where: "due_at is null") == 2 } }
      #expect(fixture.receiver.accepted == ["hello bob"])
      #expect(try await fixture.count(where: "outcome = 'given_up' and tries = 1") == 1)
    }
  }

  @Test(arguments: engines) func whatAWorkerHeldWhenItDiedIsSentByAnother(engine: Engine) async throws {
    try await withOutbox(engine) { fixture in
      try await fixture.add("hello")
      // The row as a process leaves it that is killed during a try.
      let now = fixture.clock.now
      try await fixture.database.write { db in
        try db.change("update outbox set lease = 'dead', tries = 1, due_at = \(now + 50)")
      }
      let outbox = try await fixture.outbox()
      try await running([outbox]) {
        try await Task.sleep(for: .milliseconds(300))
        #expect(fixture.receiver.requestCount == 0)
        fixture.clock.advance(by: .seconds(51))
        try await eventually { fixture.receiver.accepted == ["hello"] }
      }
      #expect(try await fixture.count(where: "outcome = 'done' and tries = 2") == 1)
    }
  }

  @Test(arguments: engines) func aWorkerThatIsStoppedGivesBackWhatItHolds(engine: Engine) async throws {
    try await withOutbox(engine) { fixture in
      fixture.receiver.behavior = .hanging
      try await fixture.add("hello")
      let outbox = try await fixture.outbox()
      try await running([outbox]) { try await eventually { fixture.receiver.requestCount == 1 } }
      #expect(try await fixture.count(where: "lease is null and due_at is not null") == 1)
      fixture.receiver.behavior = .normal
      let next = try await fixture.outbox()
      try await running([next]) { try await eventually { fixture.receiver.accepted == ["hello"] } }
    }
  }

  @Test(arguments: engines) func whoRingsDoesNotWaitForTheNextLook(engine: Engine) async throws {
    try await withOutbox(engine, { $0.pollInterval = .seconds(3600) }) { fixture in
      let outbox = try await fixture.outbox()
      try await running([outbox]) {
        for number in 1...20 {
          try await fixture.add("letter \(number)")
          outbox.wakeUp()
          try await eventually { fixture.receiver.accepted.count == number }
        }
      }
    }
  }

  @Test(arguments: engines) func whatWasPostponedIsSentWhenItIsDue(engine: Engine) async throws {
    try await withOutbox(engine, { $0.pollInterval = .seconds(3600) }) { fixture in
      fixture.receiver.behavior = .failing(1)
      try await fixture.add("hello")
      let outbox = try await fixture.outbox()
      try await running([outbox]) {
        try await eventually { fixture.receiver.accepted == ["hello"] }
      }
    }
  }

  /// A transaction that writes a message without waking the worker up, and one whose message is due later.
  @Test(arguments: engines) func whatThisProcessHasWrittenIsNotOverlooked(engine: Engine) async throws {
    try await withTestDatabase(engine) { testDatabase in
      let dependencies = Dependencies(Settings(testDatabase.settings), logger: quiet, pollInterval: .seconds(3600))
      let database = try await dependencies.openDatabase(ServiceSchema("outbox", [Outbox.migration]))
      let sent = Mutex<[String]>([])
      let outbox = Outbox(
        database: database, keys: OutboxFixture.dataKeys(["a key for tests 0123456789 abcdefghij"]), in: dependencies,
        deliveries: [
          Delivery("letter") { message in
            let text = try message.decode(TestMessage.self).text
            sent.withLock { $0.append(text) }
          }
        ])
      try await running([outbox]) {
        for (text, delay) in [("now", 0.0), ("later", 3.0)] {
          try await database.write { db in
            try outbox.add("letter", TestMessage(to: "bob", text: text), at: Date() + delay, on: db)
          }
        }
        try await eventually { sent.withLock { $0 } == ["now", "later"] }
      }
      await database.close()
    }
  }

  @Test(arguments: engines) func theDepthIsMeasured(engine: Engine) async throws {
    try await withOutbox(engine) { fixture in
      fixture.clock.stop()
      fixture.receiver.behavior = .hanging
      for number in 0..<3 { try await fixture.add("letter \(number)") }
      fixture.clock.advance(by: .seconds(105))
      let outbox = try await fixture.outbox()
      try await running([outbox]) {
        try await eventually { fixture.registry.text().contains("kith_outbox_depth{kind=\"letter\"} 3") }
        #expect(fixture.registry.text().contains("kith_outbox_oldest_seconds{kind=\"letter\"} 10"))
      }
    }
  }
}
