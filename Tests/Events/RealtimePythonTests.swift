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
      try await run(
        [fixture.events.base, fixture.events.base, TestStack.keys["lists"] ?? "", "42"],
        [alice.token, refreshed, bob.token, try fixture.person().token])
    }
  }

  @Test(
    .enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: Supabase's realtime client was not tried"),
    arguments: engines)
  func itDoesSoThroughTheGateway(_ engine: Engine) async throws {
    try await withStack(engine, TestStack.eventsURL) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let list = try await alice.browser.done(.POST, "/api/v1/lists", ["list": ["name": "Groceries"]]).id(of: "list")
      try await alice.browser.done(
        .POST, "/api/v1/lists/\(list)/memberships",
        ["membership": ["user_identifier": "bob@example.com", "role": "editor"]])
      stack.clock.advance(by: .seconds(1))
      let refreshed = try await stack.gateway.done(.POST, "/api/v1/auth/refresh", ["refresh_token": alice.refresh])
      try await run(
        [stack.gateway.base, stack.events.base, TestStack.keys["lists"] ?? "", String(list)],
        [alice.access, refreshed.string("access_token"), bob.access, try await stack.signIn("mallory").access])
    }
  }

  private func run(_ server: [String], _ tokens: [String]) async throws {
    let printed = try await Python.run(Python.script("realtime_client"), arguments: server + tokens)
    #expect(
      printed.split(separator: "\n").map(String.init) == [
        "joined", "refused", "broadcast of the feed", "postgres_changes", "broadcast of a client", "presence",
        "broadcast by HTTP", "token refreshed", "reconnected", "invalid token refused", "left",
      ])
  }
}
