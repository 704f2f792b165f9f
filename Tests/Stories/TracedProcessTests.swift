import Foundation
import Support
import Testing

/// The `kith` program with tracing enabled by environment variables.
@Suite struct TracedProcessTests {
  @Test func aStoppedProcessHasToldWhatItDidUnderItsPartsNames() async throws {
    try await withCollector { collector in
      try await withTestDatabase(.sqlite) { testDatabase in
        let kith = try await KithProcess.start(
          in: testDatabase, ["OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "600000"])
        let reply = try await kith.gateway.with(["X-Admin-Key": TestStack.adminKey])
          .post("/api/v1/auth/dev/token", ["email": "alice@example.com"])
        #expect(reply.status == 200)
        #expect(collector.times.isEmpty)
        #expect(await kith.stop() == 0)
        let spans = collector.spans.filter { $0.name == "POST /api/v1/auth/dev/token" }
        #expect(spans.map(\.service).sorted() == ["kith-auth", "kith-gateway", "kith-gateway"])
        #expect(Set(spans.map(\.trace)).count == 1)
        // Health checks and polling between services are not traced.
        #expect(!collector.spans.contains { $0.name.contains("/health") || $0.name.contains("sessions/ended") })
      }
    }
  }

  @Test func aCollectorThatHangsHoldsNoStopUp() async throws {
    try await withCollector { collector in
      collector.behavior = .hanging
      try await withTestDatabase(.sqlite) { testDatabase in
        let kith = try await KithProcess.start(
          in: testDatabase, ["OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "20"])
        #expect(try await kith.gateway.get("/api/v1/auth/me").status == 401)
        try await eventually { !collector.times.isEmpty }
        let began = ContinuousClock.now
        #expect(await kith.stop() == 0)
        // The collector would hang for ten minutes.
        #expect(ContinuousClock.now - began < .seconds(60))
      }
    }
  }
}
