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

/// Tokens of ended sessions: rejected everywhere within two seconds, also while auth is down.
@Suite struct EndedSessionsTests {
  private struct Down: Error {}

  @Test func withoutAnAnswerTheLastListStaysAndItIsToldLoudly() async throws {
    let log = RecordedLog()
    let isDown = Mutex(false)
    let lastUpdate = Mutex(ContinuousClock.now)
    let errorAfter = Duration.seconds(4)
    let attempts = Mutex(0)
    let session = SessionID.new(at: Date())
    let list = EndedSessionList()
    let dependencies = Dependencies(Settings([:]), logger: log.logger)
    list.addAge(to: dependencies)
    let feed = EndedSessionsFeed(list: list, in: dependencies, errorAfter: errorAfter) { _ in
      attempts.withLock { $0 += 1 }
      guard !isDown.withLock({ $0 }) else { throw Down() }
      lastUpdate.withLock { $0 = .now }
      return EndedSessions(sessions: [.init(session: session, until: Date() + 900)], cursor: Date())
    }
    #expect(!list.isLoaded)
    try await running([feed]) {
      try await eventually { list.isLoaded }
      isDown.withLock { $0 = true }
      try await eventually { log.all.contains { $0.level == .error && $0.text.contains("out of date") } }
      #expect(ContinuousClock.now - lastUpdate.withLock { $0 } >= errorAfter)
      // Other attempts fail, long before it is told again.
      let failed = attempts.withLock { $0 }
      try await eventually("three attempts") { attempts.withLock { $0 } >= failed + 3 }
      #expect(log.all.filter { $0.level == .error }.count == 1)
      #expect(list.contains(session))
      #expect(dependencies.registry.text().contains("kith_ended_sessions_age_seconds"))
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
      let other = try buildGateway(stack.dependencies.presenting("gateway"))
      try await running([other]) {
        let second = Browser("http://127.0.0.1:\(try await other.port.number)")
        try await eventually { try await second.get("/health/ready").status == 200 }
        func endASession() async throws {
          let alice = try await stack.signIn("alice")
          let path = "/api/v1/credits/balance"
          #expect(try await second.bearing(alice.access).get(path).status == 200)
          #expect(try await stack.credits.bearing(alice.access).get(path).status == 200)
          #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": alice.refresh]).status == 200)
          #expect(try await alice.browser.get(path).status == 401)
          for verifier in [second, stack.credits] {
            try await eventually { try await verifier.bearing(alice.access).get(path).status == 401 }
          }
        }
        try await endASession()
        // Now a call has just begun that waits at auth for the end of sessions: for 25 seconds, if nothing ends it.
        let isSoon = try await isDone(within: .seconds(7), endASession)
        #expect(isSoon)
      }
    }
  }

  @Test(arguments: engines) func aListThatIsLongComesInPages(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": alice.refresh]).status == 200)
      // Many with the same time, so that a page ends among them.
      let count = 60_000
      try await addEndedSessions(count, of: alice.id, stack)
      let users = UsersClient(in: stack.dependencies(of: "lists"))
      var list: EndedSessions?
      try await eventually("all pages", within: .seconds(300)) {
        // On a busy machine a page may take longer than services wait for it.
        do { list = try await users.endedSessions(since: nil) } catch let failure as Failure
          where failure.kind == .unavailable
        { return false }
        return true
      }
      let all = try #require(list)
      #expect(Set(all.sessions.map(\.session)).count == count + 1 && all.sessions.count == count + 1)
      let cursor = EndedSessions(sessions: [], cursor: all.cursor)
      #expect(try await users.endedSessions(since: cursor).sessions.count <= 1)
      let other = try buildGateway(stack.dependencies(of: "gateway"))
      try await running([other]) {
        let browser = Browser("http://127.0.0.1:\(try await other.port.number)")
        try await eventually("readiness", within: .seconds(300)) {
          try await browser.get("/health/ready").status == 200
        }
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

  /// Three replicas with one database, whose clocks are twenty minutes slow, right, and twenty minutes fast.
  @Test(arguments: engines) func whatAReplicaWithAnotherClockEndedIsToldToo(engine: Engine) async throws {
    try await withStack(engine) { stack in
      var replicas: [AuthReplica] = []
      for seconds in [-1200.0, 0, 1200] {
        let dependencies = Dependencies(
          stack.dependencies.settings, logger: quiet, now: { stack.clock.now + seconds })
        replicas.append(try await AuthReplica(of: dependencies))
      }
      let browsers = replicas.map { Browser($0.url).with(stack.with(key: "gateway")) }
      let path = "/internal/sessions/ended"
      for ending in browsers {
        for polled in browsers {
          let alice = try await stack.signIn("alice")
          let bob = try await stack.signIn("bob")
          // The cursor comes after the end of another session, so that it cannot be before everything.
          #expect(try await polled.post("/api/v1/auth/logout", ["refresh_token": bob.refresh]).status == 200)
          let cursor = try await polled.get(path).string("cursor")
          #expect(try await ending.post("/api/v1/auth/logout", ["refresh_token": alice.refresh]).status == 200)
          let session = try #require(Self.session(of: alice.access))
          for browser in browsers {
            let reply = try await browser.get("\(path)?since=\(cursor)")
            let ids = (reply["sessions"] as? [[String: String]] ?? []).compactMap { $0["session"] }
            #expect(ids.contains(session))
          }
        }
      }
      for replica in replicas { try await replica.stop() }
    }
  }

  /// Auth learns of the ends of sessions in the same database, and so do those who wait at it.
  @Test(arguments: engines) func whatAnotherReplicaEndedIsOverSoon(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let replica = try await AuthReplica(of: Dependencies(stack.dependencies.settings, logger: quiet))
      let path = "/api/v1/credits/balance"
      func endASession() async throws {
        let alice = try await stack.signIn("alice")
        #expect(try await stack.credits.bearing(alice.access).get(path).status == 200)
        #expect(
          try await Browser(replica.url).post("/api/v1/auth/logout", ["refresh_token": alice.refresh]).status == 200)
        for verifier in [stack.credits, stack.gateway, stack.auth] {
          let path = verifier.base == stack.auth.base ? "/api/v1/auth/me" : path
          try await eventually { try await verifier.bearing(alice.access).get(path).status == 401 }
        }
      }
      try await endASession()
      // As in the test of one replica.
      let isSoon = try await isDone(within: .seconds(7), endASession)
      #expect(isSoon)
      try await replica.stop()
    }
  }

  @Test func aCallWithTheVersionWaitsForTheEndOfASession() async throws {
    try await withStack(.sqlite) { stack in
      let auth = stack.auth.with(stack.with(key: "lists"))
      let version = try await stack.restingVersion()
      let began = ContinuousClock.now
      // Longer than a connection is silent for most calls.
      #expect(try await auth.get("/internal/sessions/ended?wait=12&version=\(version)").string("version") == version)
      #expect(ContinuousClock.now - began >= .seconds(12), "it waited")
      let isWokenUp = try await isDone(within: .seconds(7)) {
        let alice = try await stack.signIn("alice")
        let version = try await stack.restingVersion()
        async let waiting = auth.get("/internal/sessions/ended?wait=8&version=\(version)")
        try await Task.sleep(for: .milliseconds(100))
        #expect(try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": alice.refresh]).status == 200)
        let reply = try await waiting
        #expect(reply.text.contains(try #require(Self.session(of: alice.access))))
        #expect(reply.string("version") != version)
      }
      #expect(isWokenUp)
      // A version of another replica, or of before a restart, and none.
      for other in [version, "", "x", "\(UUID()).0", "\(version)0"].map({ "&version=\($0)" }) + [""] {
        let isAtOnce = try await isDone(within: .seconds(7)) {
          let status = try await auth.get("/internal/sessions/ended?wait=8\(other)").status
          #expect(status == 200)
        }
        #expect(isAtOnce, "\(other)")
      }
      for wrong in [-1, 26] { #expect(try await auth.get("/internal/sessions/ended?wait=\(wrong)").status == 422) }
    }
  }

  @Test func aStopOfAuthDoesNotWaitForThoseWhoWait() async throws {
    try await withStack(.sqlite) { stack in
      // On a busy machine the call may come after the stop, or take longer than it would wait.
      var isEnded = false
      for _ in 0..<3 where !isEnded { isEnded = try await isWaitEndedByStop(stack) }
      #expect(isEnded)
    }
  }

  /// Whether a call that waits at a replica of auth is answered when that stops.
  private func isWaitEndedByStop(_ stack: TestStack) async throws -> Bool {
    let replica = try await AuthReplica(of: stack.dependencies)
    let browser = Browser(replica.url).with(stack.with(key: "lists"))
    try await eventually { try await browser.get("/health/ready").status == 200 }
    let version = try await browser.get("/internal/sessions/ended").string("version")
    let began = ContinuousClock.now
    let waiting = Task { try await browser.get("/internal/sessions/ended?wait=8&version=\(version)").status }
    try await Task.sleep(for: .seconds(1))
    try await replica.stop()
    // `try?`: the stop may have come first.
    let status = try? await waiting.value
    return status == 200 && ContinuousClock.now - began < .seconds(8)
  }

  static func session(of token: String) -> String? {
    let claims = token.split(separator: ".").dropFirst().first.flatMap { Base64URL.decode($0.utf8) } ?? []
    let read = try? JSONSerialization.jsonObject(with: Data(claims)) as? [String: Any]
    return read?["sid"] as? String
  }

  private func addEndedSessions(_ count: Int, of user: UserID, _ stack: TestStack) async throws {
    let database = try await stack.testDatabase.open("auth", [])
    let now = stack.clock.now
    try await database.write { db in
      for start in stride(from: 0, to: count, by: 1000) {
        var sql = SQL.StringInterpolation(literalCapacity: 64_000, interpolationCount: 5000)
        sql.appendLiteral("insert into session (id, account_id, opened_at, ended_at, noted_at, tokens_until) values ")
        for number in start..<min(start + 1000, count) {
          sql.appendLiteral(number > start ? ", (" : "(")
          sql.appendInterpolation(SessionID.new(at: now))
          let hourAgo = RFC3339.milliseconds(now - 3600)
          for value in [user.description, RFC3339.milliseconds(now - 7200), hourAgo, hourAgo] {
            sql.appendLiteral(", ")
            sql.appendInterpolation(value)
          }
          sql.appendLiteral(", ")
          sql.appendInterpolation(RFC3339.milliseconds(now + 86_400))
          sql.appendLiteral(")")
        }
        try db.change(SQL(stringInterpolation: sql))
      }
    }
    await database.close()
  }

  @Test func nobodyIsReadyBeforeTheFirstList() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let dependencies = Dependencies(
        TestStack.settings(testDatabase, appleKeys: "http://127.0.0.1:1/"), logger: quiet)
      dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:1")
      let gateway = try buildGateway(dependencies.presenting("gateway"))
      try await running([gateway]) {
        let browser = Browser("http://127.0.0.1:\(try await gateway.port.number)")
        #expect(try await browser.get("/health/live").status == 200)
        #expect(try await browser.get("/health/ready").status == 503)
      }
    }
  }
}

extension TestStack {
  /// The version of the ended sessions of auth, or of a replica of it, once it does not change any more.
  func restingVersion(of replica: Browser? = nil) async throws -> String {
    var version = ""
    try await eventually("rest") {
      let before = version
      try await Task.sleep(for: .milliseconds(500))
      version = try await (replica ?? auth).with(with(key: "lists")).get("/internal/sessions/ended").string("version")
      return version == before
    }
    return version
  }
}
