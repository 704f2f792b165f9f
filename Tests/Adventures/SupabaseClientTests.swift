import Database
import Foundation
import Support
import Testing

/// Supabase's Python client against the tables, through the gateway.
@Suite struct SupabaseClientTests {
  @Test(
    .enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: Supabase's client was not tried"), arguments: engines)
  func supabasesClientIsUnderstood(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
      let end = stack.clock.now.addingTimeInterval(3600).formatted(.iso8601)
      let printed = try await Python.run(
        Python.script("adventures_client"),
        arguments: [stack.gateway.base, alice.access, "\(alice.id)", bob.access, "\(bob.id)", end])
      #expect(
        printed.split(separator: "\n").map(String.init) == ["plans", "places", "hunts", "shares", "functions"])
    }
  }
}
