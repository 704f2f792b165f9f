import Database
import Support
import Testing

/// Supabase's client for Python against the tables, through the gateway.
@Suite(.enabled(if: Python.isAvailable)) struct GroupTableClientTests {
  @Test(arguments: engines) func everyCallOfTheClientIsAnswered(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let expired = try await stack.signIn("alice").access
      stack.clock.advance(by: .seconds(2 * 86_400))
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let printed = try await Python.run(
        Python.script("postgrest_groups"),
        arguments: [stack.gateway.base, alice.access, bob.access, alice.id.description, bob.id.description, expired])
      #expect(printed.hasSuffix("done\n"))
    }
  }
}
