import Database
import Foundation
import NIOHTTP1
import Support
import Testing

/// For how long apps may show what they have read from each table, and what they ask for afterwards.
@Suite struct CacheTests {
  /// nil: the app asks each time.
  private static let seconds: [(table: String, seconds: Int?)] = [
    ("adventure_plans", 1800), ("social_groups", 900), ("scavenger_hunts", 300), ("hunt_checkpoints", 300),
    ("eta_shares", 60), ("saved_places", nil), ("group_members", nil), ("hunt_participants", nil),
    ("checkpoint_submissions", nil), ("hunt_leaderboard", nil), ("users", nil),
  ]

  @Test(arguments: engines) func everyTableHasItsTime(_ engine: Engine) async throws {
    try await withStack(engine, ["SERVER_TIMING": "true"]) { stack in
      let alice = try await stack.signIn("alice")
      #expect(Set(Self.seconds.map(\.table)) == Set(AccessMatrix.lines.map(\.table)))
      for (table, seconds) in Self.seconds {
        let expected = seconds.map { "private, max-age=\($0)" } ?? "private, no-cache"
        let read = try await alice.rest(.GET, table)
        let tag = try #require(read.headers.first(name: "etag"), "\(table)")
        let unchanged = try await alice.browser.with(["If-None-Match": tag]).get("/rest/v1/\(table)")
        #expect(unchanged.status == 304 && unchanged.body.isEmpty, "\(table)")
        let counted = try await alice.rest(.HEAD, table, prefer: "count=exact")
        for reply in [read, unchanged, counted] {
          #expect(reply.headers.first(name: "cache-control") == expected, "\(table): \(reply.status)")
          #expect(reply.headers.first(name: "vary")?.contains("Authorization") == true, "\(table)")
        }
        let refused = try await alice.rest(.GET, "\(table)?nothing=eq.1")
        #expect(refused.status == 400 && refused.headers.first(name: "cache-control") == "no-store", "\(table)")
        #expect(read.headers.first(name: "server-timing")?.hasPrefix("gateway;dur=") == true, "\(table)")
      }
    }
  }

  @Test(arguments: engines) func aChangeIsAnotherTag(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let path = "adventure_plans?user_id=eq.\(alice.id)"
      let made = try await alice.rest(.POST, "adventure_plans", #"{"title": "Trip"}"#)
      #expect(made.headers.first(name: "etag") == nil)
      let tag = try #require(try await alice.rest(.GET, path).headers.first(name: "etag"))
      func reads(_ user: SignedInUser, _ query: String = "") async throws -> Int {
        try await user.browser.with(["If-None-Match": tag]).get("/rest/v1/\(path)\(query)").status
      }
      #expect(try await reads(alice) == 304)
      // Other columns, another page, and another user have other answers.
      #expect(try await reads(alice, "&select=title") == 200)
      #expect(try await reads(alice, "&offset=1") == 200)
      #expect(try await reads(bob) == 200)
      _ = try await alice.rest(.PATCH, path, #"{"title": "Tour"}"#)
      #expect(try await reads(alice) == 200)
    }
  }
}
