import Database
import Foundation
import Support
import Testing
import Wire

/// Supabase's Python client, which apps' scripts use.
@Suite struct RealtimePythonTests {
  @Test(
    .enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: Supabase's realtime client was not tried"),
    arguments: engines)
  func itJoinsReadsTalksRefreshesItsTokenAndReconnects(_ engine: Engine) async throws {
    try await withEvents(engine) { fixture in
      let (alice, bob) = (try fixture.reader(of: "lists:42"), try fixture.reader(of: "lists:42"))
      let refreshed = try fixture.token(of: alice.id, alice.session, lifetime: .seconds(7200))
      let printed = try await Python.run(
        Python.script("realtime_client"),
        arguments: [
          fixture.events.base, TestStack.keys["lists"] ?? "", alice.token, refreshed, bob.token,
          try fixture.person().token,
        ])
      #expect(
        printed.split(separator: "\n").map(String.init) == [
          "joined", "refused", "broadcast of the feed", "postgres_changes", "broadcast of a client", "presence",
          "broadcast by HTTP", "token refreshed", "reconnected", "left",
        ])
    }
  }
}
