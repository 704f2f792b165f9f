import Clients
import Database
import Foundation
import Gateway
import Support
import Synchronization
import Testing
import Tokens
import Web
import Wire

/// Sessions that are over: believed by nobody within two seconds, also while auth is away.
@Suite struct EndedSessionsTests {
  private struct Down: Error {}

  @Test func withoutAnAnswerTheLastListStaysAndItIsToldLoudly() async throws {
    let lines = LogLines()
    let isDown = Mutex(false)
    let lastAnswer = Mutex(ContinuousClock.now)
    let patience = Duration.milliseconds(1500)
    let session = SessionID.new(at: Date())
    let list = EndedSessionList()
    let surroundings = Surroundings(Settings([:]), logger: lines.logger)
    let feed = EndedSessionsFeed(list: list, in: surroundings, alarmAfter: patience) { _ in
      guard !isDown.withLock({ $0 }) else { throw Down() }
      lastAnswer.withLock { $0 = .now }
      return EndedSessions(sessions: [.init(session: session, until: Date() + 900)], cursor: Date())
    }
    #expect(!list.isKnown)
    try await running([feed]) {
      try await eventually { list.isKnown }
      isDown.withLock { $0 = true }
      try await eventually { lines.all.contains { $0.level == .error && $0.text.contains("out of date") } }
      #expect(ContinuousClock.now - lastAnswer.withLock { $0 } >= patience)
      try await Task.sleep(for: .milliseconds(2200))
      #expect(lines.all.filter { $0.level == .error }.count == 1)
      #expect(list.contains(session))
      #expect(surroundings.registry.text().contains("kith_ended_sessions_age_seconds"))
    }
  }

  @Test func theListIsNoLongerThanTheTokensOfEndedSessionsLive() {
    let list = EndedSessionList()
    let now = Date()
    let entries = (0..<1000).map { number in
      EndedSessions.Entry(session: .new(at: now), until: now + Double(number))
    }
    list.add(entries, at: now)
    list.add([], at: now + 500.5)
    #expect(entries.filter { list.contains($0.session) }.count == 499)
  }

  @Test func aSessionThatEndedIsOverAtOnceAtItsGatewayAndSoonEverywhereElse() async throws {
    try await withStack(.sqlite) { stack in
      let other = try buildGateway(stack.surroundings.presenting("gateway"))
      try await running([other]) {
        let second = Browser("http://127.0.0.1:\(try await other.port.number)")
        try await eventually { try await second.get("/health/ready").status == 200 }
        for _ in 0..<3 {
          let alice = try await stack.signIn("alice")
          let path = "/api/v1/credits/balance"
          #expect(try await second.bearing(alice.access).get(path).status == 200)
          #expect(try await stack.credits.bearing(alice.access).get(path).status == 200)
          let began = ContinuousClock.now
          #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": alice.refresh]).status == 200)
          #expect(try await alice.browser.get(path).status == 401)
          for verifier in [second, stack.credits] {
            try await eventually { try await verifier.bearing(alice.access).get(path).status == 401 }
          }
          // Asked every second; a test machine may be slow.
          #expect(ContinuousClock.now - began < .seconds(6))
        }
      }
    }
  }

  @Test(arguments: engines) func aListThatIsLongComesInPages(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": alice.refresh]).status == 200)
      // Many at the same moment, as when many people's accounts end: a page may end among them.
      let count = 60_000
      try await addEndedSessions(count, of: alice.id, stack)
      let users = UsersClient(in: stack.surroundings(of: "lists"))
      let all = try await users.endedSessions(since: nil)
      #expect(Set(all.sessions.map(\.session)).count == count + 1 && all.sessions.count == count + 1)
      #expect(try await users.endedSessions(since: all.cursor).sessions.count <= 1)
      let other = try buildGateway(stack.surroundings(of: "gateway"))
      try await running([other]) {
        let browser = Browser("http://127.0.0.1:\(try await other.port.number)")
        try await eventually("readiness") { try await browser.get("/health/ready").status == 200 }
        #expect(try await browser.bearing(alice.access).get("/api/v1/credits/balance").status == 401)
      }
      let service = stack.auth.with(stack.with(key: "lists"))
      let page = try await service.get("/internal/sessions/ended?limit=10")
      #expect((page["sessions"] as? [Any])?.count == 10 && page["next"] is String)
      for wrong in ["limit=-1", "limit=5001", "limit=10&after=x", "limit=10&after=\(UUID())"] {
        #expect(try await service.get("/internal/sessions/ended?\(wrong)").status == 422, "\(wrong)")
      }
    }
  }

  /// Three replicas over one database, whose clocks are a quarter of an hour behind, right, and as much ahead.
  @Test(arguments: engines) func whatAReplicaWithAnotherClockEndedIsToldToo(engine: Engine) async throws {
    try await withStack(engine) { stack in
      var replicas: [Replica] = []
      for seconds in [-1200.0, 0, 1200] {
        let surroundings = Surroundings(
          stack.surroundings.settings, logger: quiet, now: { stack.clock.now + seconds })
        replicas.append(try await Replica(of: surroundings))
      }
      let browsers = replicas.map { Browser($0.url).with(stack.with(key: "gateway")) }
      let path = "/internal/sessions/ended"
      for ending in browsers {
        for asked in browsers {
          let alice = try await stack.signIn("alice")
          let bob = try await stack.signIn("bob")
          // The cursor comes after an end by whichever clock, so that it cannot be before everything.
          #expect(try await asked.post("/api/v1/auth/logout", ["refresh_token": bob.refresh]).status == 200)
          let cursor = try await asked.get(path).string("cursor")
          #expect(try await ending.post("/api/v1/auth/logout", ["refresh_token": alice.refresh]).status == 200)
          let session = try #require(Self.session(of: alice.access))
          for browser in browsers {
            let told = try await browser.get("\(path)?since=\(cursor)")
            let ids = (told["sessions"] as? [[String: String]] ?? []).compactMap { $0["session"] }
            #expect(ids.contains(session))
          }
        }
      }
      for replica in replicas { try await replica.stop() }
    }
  }

  private static func session(of token: String) -> String? {
    let claims = token.split(separator: ".").dropFirst().first.flatMap { Base64URL.decode($0.utf8) } ?? []
    let read = try? JSONSerialization.jsonObject(with: Data(claims)) as? [String: Any]
    return read?["sid"] as? String
  }

  private func addEndedSessions(_ count: Int, of user: UserID, _ stack: TestStack) async throws {
    let database = try await stack.place.open("auth", [])
    let now = stack.clock.now
    try await database.write { db in
      for start in stride(from: 0, to: count, by: 1000) {
        var sql = SQL.StringInterpolation(literalCapacity: 64_000, interpolationCount: 5000)
        sql.appendLiteral("insert into session (id, account_id, opened_at, ended_at, noted_at, tokens_until) values ")
        for number in start..<min(start + 1000, count) {
          sql.appendLiteral(number > start ? ", (" : "(")
          sql.appendInterpolation(SessionID.new(at: now))
          let hourAgo = Instant.milliseconds(now - 3600)
          for value in [user.description, Instant.milliseconds(now - 7200), hourAgo, hourAgo] {
            sql.appendLiteral(", ")
            sql.appendInterpolation(value)
          }
          sql.appendLiteral(", ")
          sql.appendInterpolation(Instant.milliseconds(now + 86_400))
          sql.appendLiteral(")")
        }
        try db.change(SQL(stringInterpolation: sql))
      }
    }
    await database.close()
  }

  @Test func nobodyIsReadyBeforeTheFirstList() async throws {
    try await withPlace(.sqlite) { place in
      let surroundings = Surroundings(
        TestStack.settings(place, appleKeys: "http://127.0.0.1:1/"), logger: quiet)
      surroundings.neighbours.moved(.auth, to: "http://127.0.0.1:1")
      let gateway = try buildGateway(surroundings.presenting("gateway"))
      try await running([gateway]) {
        let browser = Browser("http://127.0.0.1:\(try await gateway.port.number)")
        #expect(try await browser.get("/health/live").status == 200)
        #expect(try await browser.get("/health/ready").status == 503)
      }
    }
  }
}
