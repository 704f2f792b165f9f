import Database
import Foundation
import Support
import Synchronization
import Testing
import Web

/// The database goes away in the middle of refreshes: nobody is signed out by it.
@Suite struct RefreshOutageTests {
  /// Somebody's app: asks again with the token that it holds, by its contract's rule, until it has an answer.
  private struct App: Sendable {
    let gateway: Browser
    /// An app of Supabase's repeats without a key.
    let isSupabase: Bool
    var access: String
    var refresh: String

    init(_ reply: Browser.Reply, isSupabase: Bool, through gateway: Browser) {
      self.gateway = gateway
      self.isSupabase = isSupabase
      access = reply.string("access_token")
      refresh = reply.string("refresh_token")
    }

    /// A new pair for the one that it holds.
    mutating func renew(_ answers: Answers) async throws {
      let browser = isSupabase ? gateway : gateway.with(["Idempotency-Key": UUID().uuidString])
      let path = isSupabase ? "/auth/v1/token?grant_type=refresh_token" : "/api/v1/auth/refresh"
      for _ in 0..<600 {
        // `try?`: a connection that breaks off is no answer, either.
        let reply = try? await browser.post(path, ["refresh_token": refresh])
        answers.note(reply?.status ?? 0)
        if let reply, reply.status == 200 {
          (access, refresh) = (reply.string("access_token"), reply.string("refresh_token"))
          return
        }
        guard (reply?.status ?? 500) >= 500 else { throw Unexpected(reply: "signed out: \(reply?.text ?? "")") }
        try await Task.sleep(for: .milliseconds(50))
      }
      throw Unexpected(reply: "no answer")
    }

    /// What the pair is answered with. An app asks again where a busy server says that it has no answer yet.
    func status() async throws -> Int {
      var status = 0
      for _ in 0..<10 where [0, 503, 504].contains(status) {
        status = try await gateway.bearing(access).get("/api/v1/auth/me").status
      }
      return status
    }
  }

  private final class Answers: Sendable {
    private let counts = Mutex<[Int: Int]>([:])
    private let over = Flag()

    func note(_ status: Int) { counts.withLock { $0[status, default: 0] += 1 } }
    func end() { over.raise() }
    var areOver: Bool { over.isRaised }
    var good: Int { counts.withLock { $0[200] ?? 0 } }
    var bad: Int { counts.withLock { $0.filter { $0.key != 200 }.values.reduce(0, +) } }
  }

  private func apps(_ stack: TestStack) async throws -> [App] {
    var apps: [App] = []
    for number in 0..<8 {
      let developer = try await stack.gateway.with(["X-Admin-Key": TestStack.adminKey])
        .post("/api/v1/auth/dev/token", ["email": "member\(number)@example.com"])
      apps.append(App(developer, isSupabase: false, through: stack.gateway))
      let anonymous = try await stack.gateway.post("/auth/v1/signup")
      apps.append(App(anonymous, isSupabase: true, through: stack.gateway))
    }
    return apps
  }

  @Test(.enabled(if: engines.contains(.postgres))) func everybodyIsStillSignedInAfterThreeRestarts() async throws {
    try await withCluster { cluster in
      try await withStack(.sqlite, ["DATABASE_URL": cluster.url]) { stack in
        let answers = Answers()
        let before = try await apps(stack)
        let working = Task {
          try await atOnce(before.count) { index in
            var app = before[index]
            while !answers.areOver { try await app.renew(answers) }
            return app
          }
        }
        for _ in 0..<3 {
          let good = answers.good
          try await eventually("refreshes") { answers.good > good + 20 }
          let bad = answers.bad
          // Not gently: what was not committed is lost, and with it many an answer to what was.
          try await cluster.stop()
          try await eventually("failures") { answers.bad > bad }
          try await cluster.start()
        }
        let good = answers.good
        try await eventually("refreshes") { answers.good > good + 20 }
        answers.end()
        for app in try await working.value {
          #expect(try await app.status() == 200)
          var next = app
          try await next.renew(answers)
          #expect(next.refresh != app.refresh)
          #expect(try await next.status() == 200)
        }
        let database = try await Surroundings(stack.surroundings.settings, logger: quiet).openDatabase(for: "auth", [])
        let ended = try await database.read { db in try db.rows("select id from session where ended_at is not null") }
        await database.close()
        #expect(ended.isEmpty)
      }
    }
  }
}
