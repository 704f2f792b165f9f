import Auth
import Database
import Foundation
import Postgres
import Support
import Synchronization
import Testing
import Wire

/// What PostgreSQL tells the replicas of auth about sessions that have ended.
@Suite(.enabled(if: postgresURL != nil, "PostgreSQL is not there")) struct EndedSessionNotificationTests {
  @Test func everyEndIsNotifiedAndNothingElse() async throws {
    try await withStack(.postgres) { stack in
      let received = Mutex(0)
      let isConnected = Mutex(false)
      let listener = try NotificationListener(
        url: stack.testDatabase.databaseURL, channels: ["kith_ended_sessions"],
        onConnect: { isConnected.withLock { $0 = true } }, onNotification: { _, _ in received.withLock { $0 += 1 } })
      listener.start()
      defer { listener.stop() }
      try await eventually("the connection") { isConnected.withLock { $0 } }
      /// The number of notifications that it causes.
      func count(_ change: () async throws -> Void) async throws -> Int {
        let before = received.withLock { $0 }
        try await change()
        // Behind all of them, as PostgreSQL keeps their order.
        try await executeSQL(stack.testDatabase.databaseURL, "notify kith_ended_sessions, 'last'")
        try await eventually("the last") { received.withLock { $0 } > before }
        try await Task.sleep(for: .milliseconds(100))
        return received.withLock { $0 } - before - 1
      }

      let alice = try await stack.signIn("alice")
      var refresh = alice.refresh
      let other = try await count {
        _ = try await stack.signIn("alice")
        let refreshed = try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": refresh])
        #expect(refreshed.status == 200)
        refresh = refreshed.string("refresh_token")
      }
      #expect(other == 0)
      let signedOut = try await count {
        let reply = try await stack.gateway.post("/api/v1/auth/logout", ["refresh_token": refresh])
        #expect(reply.status == 200)
      }
      #expect(signedOut == 1)
      let bob = try await stack.signIn("bob")
      // With the bearers of outside issuers, which are bound to the account.
      let left = try await count {
        let reply = try await bob.browser.delete("/api/v1/auth/account")
        #expect(reply.status == 200)
      }
      #expect(left >= 1)
      let unlinked = try await count {
        try await executeSQL(
          stack.testDatabase.databaseURL,
          """
          insert into auth.unlinked (issuer, subject, account_id, unlinked_at)
          values ('https://issuer.example', 'alice', '\(alice.id)', now())
          """)
      }
      #expect(unlinked == 1)
    }
  }
}
