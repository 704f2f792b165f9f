import Clients
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
