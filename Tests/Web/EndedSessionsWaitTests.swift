import Clients
import Database
import Foundation
import HTTPTypes
import Hummingbird
import Support
import Synchronization
import Testing
import Tokens
import Web
import Wire

/// How long services ask auth to wait until more sessions have ended.
@Suite struct EndedSessionsWaitTests {
  @Test(arguments: [(nil, "8"), (20, "20"), (25, "25"), (600, "25")])
  func nobodyAsksForALongerWaitThanAuthAllows(allowed: Int?, asked: String) async throws {
    try await withAuth(allowing: allowed, for: .zero) { auth in
      let users = UsersClient(in: auth.dependencies)
      _ = try await users.endedSessions(since: auth.first(users))
      #expect(auth.waits == [asked])
    }
  }

  @Test func theFeedWaitsForAsLongAsAuthAllows() async throws {
    try await withAuth(allowing: 25, for: .milliseconds(10)) { auth in
      let users = UsersClient(in: auth.dependencies)
      let feed = EndedSessionsFeed(list: EndedSessionList(), in: auth.dependencies) {
        try await users.endedSessions(since: $0)
      }
      try await running([feed]) { try await eventually("two calls") { auth.waits.count >= 2 } }
      #expect(auth.waits.allSatisfy { $0 == "25" })
    }
  }

  /// Other calls are given up when the connection is silent for ten seconds.
  @Test func aReplyAfterALongWaitArrives() async throws {
    try await withAuth(allowing: 25, for: .seconds(12)) { auth in
      let users = UsersClient(in: auth.dependencies)
      let first = try await auth.first(users)
      #expect(try await users.endedSessions(since: first).version == first.version)
      #expect(auth.waits == ["25"])
    }
  }

  /// Calls are spread over the replicas of auth.
  @Test(arguments: engines) func whoHasAskedTwoReplicasWaitsAtBoth(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let replica = try await AuthReplica(of: Dependencies(stack.dependencies.settings, logger: quiet))
      let both = [stack.auth, Browser(replica.url)].map { $0.with(stack.with(key: "lists")) }
      let path = "/internal/sessions/ended"
      var version = ""
      for browser in both {
        _ = try await stack.restingVersion(of: browser)
        version = try await browser.get("\(path)?version=\(version)").string("version")
      }
      for browser in both {
        let began = ContinuousClock.now
        let reply = try await browser.get("\(path)?wait=1&version=\(version)")
        #expect(ContinuousClock.now - began >= .seconds(1), "it waited")
        let parts = { (version: String) in Set(version.split(separator: ",")) }
        #expect(parts(reply.string("version")) == parts(version) && parts(version).count == 2)
      }
      let isSoon = try await isDone(within: .seconds(7)) {
        let alice = try await stack.signIn("alice")
        for browser in both { version = try await stack.restingVersion(of: browser) + "," + version }
        let waiting = both.map { browser in
          Task { [version] in try await browser.get("\(path)?wait=20&version=\(version)").text }
        }
        try await Task.sleep(for: .milliseconds(100))
        let path = "/api/v1/auth/logout"
        #expect(try await Browser(replica.url).post(path, ["refresh_token": alice.refresh]).status == 200)
        let ended = try #require(EndedSessionsTests.session(of: alice.access))
        for reply in waiting { #expect(try await reply.value.contains(ended)) }
      }
      #expect(isSoon)
      try await replica.stop()
    }
  }

  @Test(.enabled(if: postgresURL != nil)) func nobodyWaitsAtAnAuthThatHasLostItsDatabase() async throws {
    try await withStack(.postgres) { stack in
      let auth = stack.auth.with(stack.with(key: "lists"))
      let url = stack.testDatabase.databaseURL
      let isSoon = try await isDone(within: .seconds(12)) {
        let version = try await stack.restingVersion()
        let waiting = Task { try await auth.get("/internal/sessions/ended?wait=25&version=\(version)").status }
        try await Task.sleep(for: .milliseconds(100))
        try await executeSQL(url, "alter table auth.session rename to away")
        #expect(try await waiting.value >= 500)
        try await executeSQL(url, "alter table auth.away rename to session")
      }
      #expect(isSoon)
      try await eventually("the next reply") { try await auth.get("/internal/sessions/ended").status == 200 }
    }
  }

  @Test func aVersionDoesNotGrowWithEachRestartOfAuth() async throws {
    try await withStack(.sqlite) { stack in
      let auth = stack.auth.with(stack.with(key: "lists"))
      let former = (0..<40).map { "\(UUID()).\($0)" }.joined(separator: ",")
      let reply = try await auth.get("/internal/sessions/ended?version=\(former)")
      let parts = reply.string("version").split(separator: ",")
      #expect(parts.count == 16)
      // The latest ones are kept.
      #expect(former.hasPrefix(parts.dropFirst().joined(separator: ",")))
    }
  }
}

/// An auth that only says which sessions have ended: none.
private final class WaitingAuth: Sendable {
  let dependencies: Dependencies
  private let seen = Mutex<[String]>([])

  init(_ dependencies: Dependencies) { self.dependencies = dependencies }

  /// The `wait` of each call that has one.
  var waits: [String] { seen.withLock { $0 } }

  func record(_ wait: String) { seen.withLock { $0.append(wait) } }

  /// The reply to a call that does not wait.
  func first(_ users: UsersClient) async throws -> EndedSessions {
    var reply: EndedSessions?
    try await eventually("the first reply") {
      // On a busy machine it may take longer than services wait for it.
      do { reply = try await users.endedSessions(since: nil) } catch let failure as Failure
        where failure.kind == .unavailable
      { return false }
      return true
    }
    return try #require(reply)
  }
}

/// - Parameters:
///   - waitMax: what it says that it allows.
///   - pause: how long it takes for a call that asks it to wait.
private func withAuth(
  allowing waitMax: Int?, for pause: Duration, _ body: (WaitingAuth) async throws -> Void
) async throws {
  let listening = ListeningPort()
  let addresses = ServiceAddresses(Settings([:]))
  let auth = WaitingAuth(Dependencies(Settings([:]), serviceAddresses: addresses, logger: quiet))
  let router = Router()
  router.get("/internal/sessions/ended") { request, _ -> Response in
    let wait = request.uri.queryParameters["wait"].map(String.init)
    if let wait {
      auth.record(wait)
      try await Task.sleep(for: pause)
    }
    let allowed = waitMax.map { ", \"wait_max\": \($0)" } ?? ""
    let json = #"{"sessions": [], "cursor": "2026-11-27T10:00:00.000Z", "version": "a.1""# + allowed + "}"
    return Response(
      status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: .init(string: json)))
  }
  try await running([loopbackServer(router, listening)]) {
    addresses.set(.auth, to: "http://127.0.0.1:\(try await listening.number)")
    try await body(auth)
  }
}
