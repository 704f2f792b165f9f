import Database
import Foundation
import Outbox
import Support
import Testing
import Wire

/// Messages that are written with their cause and sent afterwards, to a server on loopback that fails in every way.
@Suite struct OutboxTests {
  @Test(arguments: engines) func aMessageIsSentWithItsCauseOrNotAtAll(engine: Engine) async throws {
    try await withPostOffice(engine) { office in
      let outbox = try await office.outbox()
      let now = office.clock.now
      await #expect(throws: Refused.self) {
        try await office.database.write { db in
          try outbox.add("letter", Letter(to: "bob", text: "never"), at: now, on: db)
          throw Refused(status: 0)
        }
      }
      try await office.add("hello bob")
      try await running([outbox]) { try await eventually { office.receiver.accepted == ["hello bob"] } }
      #expect(office.receiver.asked == 1)
      #expect(try await office.count(where: "outcome = 'done' and content is null and due_at is null") == 1)
    }
  }

  @Test(arguments: engines) func contentsAreSealedAsLongAsTheyAreThere(engine: Engine) async throws {
    try await withPostOffice(engine) { office in
      try await office.add("a secret code 493817")
      let stored = try await office.database.read { db in
        try db.row("select content from outbox")?.get("content", as: [UInt8].self) ?? []
      }
      #expect(stored.count > 20)
      #expect(!String(decoding: stored, as: UTF8.self).contains("493817"))
      // A new key seals, the old one still opens.
      var later = office
      later.keys = PostOffice.dataKeys([
        "a newer key 0123456789 abcdefghijklmn", "a key for tests 0123456789 abcdefghij",
      ])
      let outbox = try await later.outbox()
      try await running([outbox]) { try await eventually { office.receiver.accepted == ["a secret code 493817"] } }
    }
  }

  @Test(arguments: engines) func nineFailuresAreWaitedOutLongerEachTime(engine: Engine) async throws {
    try await withPostOffice(engine) { office in
      office.receiver.mood = .failing(9)
      try await office.add("at last")
      let outbox = try await office.outbox()
      var waits: [Double] = []
      try await running([outbox]) {
        for failure in 1...9 {
          try await eventually("failure \(failure)") {
            let tries = try await office.tries()
            let isBack = try await office.count(where: "lease is null and due_at is not null") == 1
            return tries == failure && isBack
          }
          waits.append(try #require(try await office.dueIn()))
          #expect(office.receiver.accepted.isEmpty)
          office.clock.advance(by: .seconds(5000))
        }
        try await eventually { office.receiver.accepted == ["at last"] }
      }
      #expect(office.receiver.asked == 10)
      for (index, wait) in waits.enumerated() {
        let expected = Double(2 << index)
        #expect((expected * 0.7 - 1...expected * 1.25).contains(wait), "wait \(index + 1): \(wait)")
      }
    }
  }

  @Test(arguments: engines) func whoHangsIsAskedAgain(engine: Engine) async throws {
    try await withPostOffice(engine, { $0.timeout = .milliseconds(300) }) { office in
      office.receiver.mood = .hanging
      try await office.add("hello")
      let outbox = try await office.outbox()
      try await running([outbox]) {
        try await eventually { try await office.count(where: "tries = 1 and lease is null") == 1 }
        office.receiver.mood = .well
        office.clock.advance(by: .seconds(10))
        try await eventually { office.receiver.accepted == ["hello"] }
      }
    }
  }

  @Test(arguments: engines) func whatMayHaveArrivedWaitsAsLongAsItSays(engine: Engine) async throws {
    for (timeout, isStopped) in [(Duration.milliseconds(300), false), (.seconds(20), true)] {
      try await withPostOffice(
        engine,
        {
          $0.timeout = timeout
          $0.waitWhenUnknown = .seconds(30)
        }
      ) { office in
        office.receiver.mood = .hanging
        try await office.add("hello")
        let outbox = try await office.outbox()
        try await running([outbox]) {
          try await eventually { office.receiver.asked == 1 }
          guard !isStopped else { return }
          try await eventually { try await office.count(where: "tries = 1 and lease is null") == 1 }
        }
        #expect(try await office.count(where: "tries = 1 and lease is null") == 1)
        #expect(try #require(try await office.dueIn()) > 25, "stopped: \(isStopped)")
      }
    }
  }

  @Test(arguments: engines) func whoHasDiedIsAskedAgainWhenItIsBack(engine: Engine) async throws {
    try await withPlace(engine) { place in
      let database = try await place.open("outbox", [Outbox.migration])
      let receiver = Receiver()
      let office = PostOffice(database: database, receiver: receiver)
      let port = try await running([receiver.server()]) {
        office.receiver.mood = .failing(1)
        try await office.add("hello")
        let outbox = try await office.outbox()
        try await running([outbox]) {
          try await eventually { try await office.count(where: "tries = 1 and lease is null") == 1 }
        }
        return try #require(try await URL(string: receiver.url)?.port)
      }
      let outbox = try await office.outbox()
      office.clock.advance(by: .seconds(10))
      try await running([outbox]) {
        try await eventually { try await office.count(where: "tries = 2 and lease is null") == 1 }
        let back = Receiver(port: port)
        try await running([back.server()]) {
          _ = try await back.url
          office.clock.advance(by: .seconds(10))
          try await eventually { back.accepted == ["hello"] }
        }
      }
      await database.close()
    }
  }

  @Test(arguments: engines) func fourReplicasSendEachMessageOnce(engine: Engine) async throws {
    try await withPostOffice(engine) { office in
      for number in 0..<120 { try await office.add("letter \(number)") }
      var replicas: [Outbox] = []
      for _ in 0..<4 { replicas.append(try await office.outbox()) }
      try await running(replicas) {
        try await eventually { try await office.count(where: "due_at is not null") == 0 }
      }
      #expect(office.receiver.accepted.count == 120)
      #expect(Set(office.receiver.accepted).count == 120)
    }
  }

  @Test(arguments: engines) func anOrderIsKeptThoughSomeFailAndManyWork(engine: Engine) async throws {
    // The clock jumps: leases must outlast that.
    try await withPostOffice(engine, { $0.timeout = .seconds(1_000_000) }) { office in
      office.receiver.mood = .failing(7)
      for number in 0..<30 { try await office.add("\(number % 3)-\(10 + number)", order: "order \(number % 3)") }
      let replicas = [try await office.outbox(), try await office.outbox(), try await office.outbox()]
      try await running(replicas) {
        try await eventually {
          office.clock.advance(by: .seconds(30))
          return try await office.count(where: "due_at is not null") == 0
        }
      }
      #expect(office.receiver.accepted.count == 30)
      for order in 0..<3 {
        let sent = office.receiver.accepted.filter { $0.hasPrefix("\(order)-") }
        #expect(sent == sent.sorted(), "order \(order)")
      }
    }
  }

  @Test(arguments: engines) func oneCauseIsOneMessage(engine: Engine) async throws {
    try await withPostOffice(engine) { office in
      let written = try await atOnce(20) { _ in try await office.add("welcome", once: "invite 7") }
      #expect(written.filter { $0 }.count == 1)
      let outbox = try await office.outbox()
      try await running([outbox]) { try await eventually { office.receiver.accepted == ["welcome"] } }
      #expect(try await office.add("welcome", once: "invite 7") == false)
    }
  }

  @Test(arguments: engines) func aUserIsForgottenWithTheirMessages(engine: Engine) async throws {
    try await withPostOffice(engine) { office in
      let (alice, bob) = (UserID.new(at: Date()), UserID.new(at: Date()))
      try await office.add("to alice", user: alice)
      try await office.add("to bob", user: bob)
      let outbox = try await office.outbox()
      try await office.database.write { db in try outbox.erase(alice, on: db) }
      #expect(try await office.count(where: "user_id is not null") == 1)
      try await running([outbox]) { try await eventually { office.receiver.accepted == ["to bob"] } }
    }
  }
}
