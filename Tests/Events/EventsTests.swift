import Database
import Support
import Testing

@Suite struct EventsTests {
  @Test(arguments: engines)
  func theServiceIsHealthy(_ engine: Engine) async throws {
    try await withStack(engine) { stack in
      let health = try await stack.events.get("/health")
      #expect(health.status == 200)
    }
  }
}
