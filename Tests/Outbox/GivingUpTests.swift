import Database
import Foundation
import Outbox
import Support
import Testing

/// What becomes of messages that cannot be sent, of workers that die, and what is told about it.
@Suite struct GivingUpTests {
  @Test(arguments: engines) func aDayLaterItIsGivenUpLoudly(engine: Engine) async throws {
    let lines = LogLines()
    try await withPostOffice(engine, { $0.logger = lines.logger }) { office in
      office.receiver.mood = .failing(1000)
      try await office.add("the secret text")
      let outbox = try await office.outbox()
      try await running([outbox]) {
        try await eventually { try await office.count(where: "tries = 1 and lease is null") == 1 }
        office.clock.advance(by: .seconds(86_300))
        try await eventually { try await office.count(where: "tries = 2 and lease is null") == 1 }
        #expect(try await office.count(where: "outcome is null") == 1)
        office.clock.advance(by: .seconds(200))
        try await eventually { try await office.count(where: "outcome = 'given_up'") == 1 }
      }
      #expect(try await office.count(where: "content is null and due_at is null") == 1)
      let text = office.registry.text()
      #expect(text.contains("kith_outbox_tries_total{kind=\"letter\",outcome=\"given_up\"} 1"))
      #expect(text.contains("kith_outbox_tries_total{kind=\"letter\",outcome=\"postponed\"} 2"))
    }
    #expect(lines.all.contains { $0.level == .error && $0.text.contains("given up") })
    #expect(!lines.all.contains { $0.text.contains("secret") })
  }

  @Test(arguments: engines) func whatWillNeverArriveIsNotTriedAgain(engine: Engine) async throws {
    try await withPostOffice(engine) { office in
      try await office.add("hello", to: "nowhere")
      try await office.add("hello bob")
      let outbox = try await office.outbox()
      try await running([outbox]) { try await eventually { try await office.count(where: "due_at is null") == 2 } }
      #expect(office.receiver.accepted == ["hello bob"])
      #expect(try await office.count(where: "outcome = 'given_up' and tries = 1") == 1)
    }
  }

  @Test(arguments: engines) func whatAWorkerHeldWhenItDiedIsSentByAnother(engine: Engine) async throws {
    try await withPostOffice(engine) { office in
      try await office.add("hello")
      // As a process leaves it that is killed while it sends.
      let now = office.clock.now
      try await office.database.write { db in
        try db.change("update outbox set lease = 'dead', tries = 1, due_at = \(now + 50)")
      }
      let outbox = try await office.outbox()
      try await running([outbox]) {
        try await Task.sleep(for: .milliseconds(300))
        #expect(office.receiver.asked == 0)
        office.clock.advance(by: .seconds(51))
        try await eventually { office.receiver.accepted == ["hello"] }
      }
      #expect(try await office.count(where: "outcome = 'done' and tries = 2") == 1)
    }
  }

  @Test(arguments: engines) func aWorkerThatIsStoppedGivesBackWhatItHolds(engine: Engine) async throws {
    try await withPostOffice(engine) { office in
      office.receiver.mood = .hanging
      try await office.add("hello")
      let outbox = try await office.outbox()
      try await running([outbox]) { try await eventually { office.receiver.asked == 1 } }
      #expect(try await office.count(where: "lease is null and due_at is not null") == 1)
      office.receiver.mood = .well
      let next = try await office.outbox()
      try await running([next]) { try await eventually { office.receiver.accepted == ["hello"] } }
    }
  }

  @Test(arguments: engines) func whoRingsDoesNotWaitForTheNextLook(engine: Engine) async throws {
    try await withPostOffice(engine, { $0.look = .seconds(3600) }) { office in
      let outbox = try await office.outbox()
      try await running([outbox]) {
        for number in 1...20 {
          try await office.add("letter \(number)")
          outbox.ring()
          try await eventually { office.receiver.accepted.count == number }
        }
      }
    }
  }

  @Test(arguments: engines) func theDepthIsMeasured(engine: Engine) async throws {
    try await withPostOffice(engine) { office in
      office.receiver.mood = .hanging
      for number in 0..<3 { try await office.add("letter \(number)") }
      office.clock.advance(by: .seconds(100))
      let outbox = try await office.outbox()
      try await running([outbox]) {
        try await eventually { office.registry.text().contains("kith_outbox_depth{kind=\"letter\"} 3") }
        #expect(office.registry.text().contains("kith_outbox_oldest_seconds{kind=\"letter\"} 10"))
      }
    }
  }
}
