import Database
import Foundation
import Support
import Testing
import Wire

/// Texts whose delivery fails at first.
@Suite struct TextDeliveryTests {
  @Test(arguments: engines) func aTextThatFailsNineTimesIsSentOnce(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.stack.signIn("alice")
      texting.twilio.next(.refuses(status: 503, code: 20503), times: 9)
      _ = try await texting.invite([number(5)], to: try await alice.group(), by: alice)
      let database = try await texting.stack.testDatabase.open("invites", [])
      for call in 1...10 {
        try await eventually("try \(call)", passing: .seconds(20), on: texting.stack.clock) {
          try await waiting("lease is not null", in: database)
        } _: {
          texting.twilio.calls >= call
        }
      }
      await database.close()
      try await eventually("a text") { texting.texts(to: number(5)).count == 1 }
      #expect(texting.twilio.calls == 10)
      texting.stack.clock.advance(by: .seconds(7200))
      try await Task.sleep(for: .milliseconds(1500))
      #expect(texting.twilio.messages.count == 1)
    }
  }

  @Test(arguments: engines) func aTextWhoseAnswerWasLostIsNotSentAgain(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.stack.signIn("alice")
      texting.twilio.next(.acceptsThenFails(status: 502))
      let group = try await alice.group("The “Cabin”")
      _ = try await texting.invite([number(5)], to: group, by: alice)
      try await eventually("a try") { texting.twilio.calls == 1 }
      try await waitUntilSettled(texting)
      #expect(texting.texts(to: number(5)).count == 1 && texting.twilio.calls == 1)
      // The provider lists the first text; the second one is another.
      texting.stack.clock.advance(by: .seconds(86_401))
      let again = try await texting.stack.signIn("alice")
      _ = try await texting.invite([number(5)], to: group, by: again)
      try await eventually("a second text") { texting.texts(to: number(5)).count == 2 }
    }
  }

  /// The provider's list does not contain at once what it has accepted.
  @Test(arguments: engines) func halfAMinutePassesWhenTheEndIsNotKnown(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      // It is not sent again before the time was seen.
      texting.stack.clock.stop()
      let group = try await texting.stack.signIn("alice").group()
      func wait(after behavior: TwilioServer.Behavior, _ number: String) async throws -> Double {
        let (alice, before) = (try await texting.stack.signIn("alice"), texting.twilio.calls)
        texting.twilio.next(behavior)
        _ = try await texting.invite([number], to: group, by: alice)
        try await eventually("a try") { texting.twilio.calls > before }
        return try await eventualWait(texting)
      }
      #expect(try await wait(after: .acceptsThenFails(status: 502), number(5)) > 25)
      try await waitUntilSettled(texting)
      // Twilio answered that it has not accepted it.
      #expect(try await wait(after: .refuses(status: 503, code: 20503), number(6)) < 5)
      try await waitUntilSettled(texting)
      #expect(texting.texts(to: number(5)).count == 1 && texting.texts(to: number(6)).count == 1)
    }
  }

  /// The seconds until the one text that was put back is due.
  private func eventualWait(_ texting: TextingStack) async throws -> Double {
    let database = try await texting.stack.testDatabase.open("invites", [])
    var due: Date?
    try await eventually("a text given back") {
      due = try await database.read { db in
        try db.row("select due_at from outbox where due_at is not null and lease is null and tries > 0")?.get("due_at")
      }
      return due != nil
    }
    await database.close()
    return due?.timeIntervalSince(texting.stack.clock.now) ?? 0
  }

  @Test(arguments: engines) func whatWasSentIsWiped(engine: Engine) async throws {
    try await withTextingStack(engine) { texting in
      let alice = try await texting.stack.signIn("alice")
      let code = try await texting.invite([number(5)], to: try await alice.group(), by: alice)[0]
      try await eventually("a text") { texting.twilio.messages.count == 1 }
      let sealed = try await sealedText(texting)
      #expect(sealed.isEmpty)
      // No table contains the number or the code in plain text.
      let database = try await texting.stack.testDatabase.open("invites", [])
      let rows = try await database.read { db in
        "\(try db.rows("select * from invite") + db.rows("select * from outbox"))"
      }
      await database.close()
      #expect(!rows.contains(code) && !rows.contains(number(5)))
      #expect(rows.contains(alice.id.description))
    }
  }

  /// The contents of the outbox.
  private func sealedText(_ texting: TextingStack) async throws -> [[UInt8]] {
    try await waitUntilSettled(texting)
    let database = try await texting.stack.testDatabase.open("invites", [])
    let found = try await database.read { db in
      try db.rows("select content from outbox where content is not null").map {
        try $0.get("content", as: [UInt8].self)
      }
    }
    await database.close()
    return found
  }

  private func waiting(_ condition: SQL, in database: any Database) async throws -> Int {
    try await database.read { db in
      try db.row("select count(*) as waiting from outbox where \(condition)")?.get("waiting") ?? 0
    }
  }

  private func waitUntilSettled(_ texting: TextingStack) async throws {
    let database = try await texting.stack.testDatabase.open("invites", [])
    do {
      try await eventually("an empty outbox", passing: .seconds(20), on: texting.stack.clock) {
        try await waiting("lease is not null", in: database)
      } _: {
        try await waiting("due_at is not null", in: database) == 0
      }
    } catch {
      await database.close()
      throw error
    }
    await database.close()
  }

  @Test func aTextForAnInviteThatIsOverIsNotSent() async throws {
    try await withTextingStack(.sqlite) { texting in
      let (alice, bob) = (try await texting.stack.signIn("alice"), try await texting.stack.signIn("bob"))
      // It is not sent again before it is over.
      texting.stack.clock.stop()
      texting.twilio.next(.refuses(status: 503, code: 20503))
      let code = try await texting.invite([number(5)], to: try await alice.group(), by: alice)[0]
      try await eventually("a try") { texting.twilio.calls == 1 }
      #expect(try await bob.browser.post("/api/invites/redeem/\(code)").status == 200)
      try await waitUntilSettled(texting)
      #expect(texting.twilio.messages.isEmpty)
    }
  }
}
