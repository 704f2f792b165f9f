import Database
import Foundation
import Postgres
import Support
import Synchronization
import Testing

/// Whether notifications of PostgreSQL can be relied on.
@Suite(.enabled(if: postgresURL != nil, "PostgreSQL is not there")) struct NotificationListenerTests {
  private struct Counts {
    var connects = 0
    var disconnects = 0
    var payloads: [String] = []
  }

  @Test func itListensAgainAfterItsConnectionHasBrokenAndSaysWhenItDoesNot() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let counts = Mutex(Counts())
      let listener = try NotificationListener(
        url: testDatabase.databaseURL, channels: ["news"], onConnect: { counts.withLock { $0.connects += 1 } },
        onDisconnect: { counts.withLock { $0.disconnects += 1 } },
        onNotification: { _, payload in counts.withLock { $0.payloads.append(payload) } })
      #expect(!listener.isListening)
      listener.start()
      try await eventually("the connection") { listener.isListening && counts.withLock { $0.connects } == 1 }
      for round in 1...2 {
        try await executeSQL(testDatabase.databaseURL, "notify news, 'before \(round)'")
        try await eventually("it") { counts.withLock { $0.payloads.last } == "before \(round)" }
        try await executeSQL(
          testDatabase.databaseURL,
          """
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query like 'listen%'
          """)
        try await eventually("another connection") {
          counts.withLock { $0.disconnects == round && $0.connects == round + 1 } && listener.isListening
        }
        try await executeSQL(testDatabase.databaseURL, "notify news, 'after \(round)'")
        try await eventually("it") { counts.withLock { $0.payloads.last } == "after \(round)" }
      }
      listener.stop()
      try await eventually("the end") { !listener.isListening }
    }
  }

  /// In its transaction mode `listen` succeeds, and nothing ever comes.
  @Test func behindPgBouncerItDoesNotListen() async throws {
    try await withTestDatabase(.postgres) { testDatabase in
      let connects = Mutex(0)
      let listener = try NotificationListener(
        url: testDatabase.databaseURL + "?pgbouncer=true", channels: ["news"],
        onConnect: { connects.withLock { $0 += 1 } }, onNotification: { _, _ in })
      listener.start()
      try await eventually("the connection") { connects.withLock { $0 } == 1 }
      #expect(!listener.isListening)
      listener.stop()
    }
  }
}
