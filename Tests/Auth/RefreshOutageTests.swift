import Database
import Foundation
import Support
import Synchronization
import Testing
import Web

/// The database is restarted during refreshes: nobody is signed out by that.
@Suite struct RefreshOutageTests {
  /// An app that retries a refresh with the same token, by the rules of its API, until it is answered.
  private struct App: Sendable {
    let gateway: Browser
    /// Apps of Supabase retry without an idempotency key.
    let isSupabase: Bool
    var access: String
    var refresh: String

    init(_ reply: Browser.Reply, isSupabase: Bool, through gateway: Browser) {
      self.gateway = gateway
      self.isSupabase = isSupabase
      access = reply.string("access_token")
      refresh = reply.string("refresh_token")
    }

    /// Exchanges the pair for a new one.
    mutating func renew(_ responses: ResponseCounts) async throws {
      let browser = isSupabase ? gateway : gateway.with(["Idempotency-Key": UUID().uuidString])
      let path = isSupabase ? "/auth/v1/token?grant_type=refresh_token" : "/api/v1/auth/refresh"
      for _ in 0..<6000 {
        // `try?`: a connection that is closed counts as no response.
        let reply = try? await browser.post(path, ["refresh_token": refresh])
        responses.record(reply?.status ?? 0)
        if let reply, reply.status == 200 {
          (access, refresh) = (reply.string("access_token"), reply.string("refresh_token"))
          return
        }
        guard (reply?.status ?? 500) >= 500 else { throw Unexpected(reply: "signed out: \(reply?.text ?? "")") }
        try await Task.sleep(for: .milliseconds(50))
      }
      throw Unexpected(reply: "no answer")
    }

    /// The status of a request with the pair. Retries when a busy server has not answered.
    func status() async throws -> Int {
      var status = 0
      for _ in 0..<10 where [0, 503, 504].contains(status) {
        status = try await gateway.bearing(access).get("/api/v1/auth/me").status
      }
      return status
    }
  }

  private final class ResponseCounts: Sendable {
    private let counts = Mutex<[Int: Int]>([:])
    private let finished = Flag()

    func record(_ status: Int) { counts.withLock { $0[status, default: 0] += 1 } }
    func finish() { finished.raise() }
    var isFinished: Bool { finished.isRaised }
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
    try await withPostgresServer { postgresServer in
      try await withStack(.sqlite, ["DATABASE_URL": postgresServer.url]) { stack in
        let responses = ResponseCounts()
        // An answer that is lost may be asked for again for ten seconds: a server may need longer than that to start.
        stack.clock.stop()
        let before = try await apps(stack)
        let working = Task {
          try await atOnce(before.count) { index in
            var app = before[index]
            while !responses.isFinished { try await app.renew(responses) }
            return app
          }
        }
        for _ in 0..<3 {
          let good = responses.good
          try await eventually("refreshes", within: .seconds(300)) { responses.good > good + 20 }
          let bad = responses.bad
          // An immediate stop: uncommitted transactions are lost, and so are responses to committed ones.
          try await postgresServer.stop()
          try await eventually("failures") { responses.bad > bad }
          try await postgresServer.start()
        }
        let good = responses.good
        try await eventually("refreshes", within: .seconds(300)) { responses.good > good + 20 }
        responses.finish()
        for app in try await working.value {
          #expect(try await app.status() == 200)
          var next = app
          try await next.renew(responses)
          #expect(next.refresh != app.refresh)
          #expect(try await next.status() == 200)
        }
        let database = try await Dependencies(stack.dependencies.settings, logger: quiet).openDatabase(
          ServiceSchema("auth", []))
        let ended = try await database.read { db in try db.rows("select id from session where ended_at is not null") }
        await database.close()
        #expect(ended.isEmpty)
      }
    }
  }
}
