import Database
import Foundation
import Prometheus
import Support
import Testing
import Web
import Wire

/// The metrics of the services, in a format that Prometheus can parse.
@Suite struct MetricsTests {
  @Test func countsAndTimesAreWrittenAsPrometheusReadsThem() {
    let registry = MetricsRegistry()
    let seen = registry.counter("seen_total", "What was seen.", labels: ["what"])
    seen.add("a \"quote\"\nand a \\")
    seen.add("plain", by: 2)
    let took = registry.histogram("took_seconds", "How long it took.", labels: ["what"])
    took.observe(.milliseconds(3), "x")
    took.observe(.seconds(60), "x")
    registry.gauge("depth", "How many wait.") { [([], 1.5)] }
    let text = registry.text()
    #expect(text.contains(#"seen_total{what="a \"quote\"\nand a \\"} 1"#))
    #expect(text.contains("seen_total{what=\"plain\"} 2\n"))
    #expect(text.contains("took_seconds_bucket{what=\"x\",le=\"0.0025\"} 0\n"))
    #expect(text.contains("took_seconds_bucket{what=\"x\",le=\"0.005\"} 1\n"))
    #expect(text.contains("took_seconds_bucket{what=\"x\",le=\"+Inf\"} 2\n"))
    #expect(text.contains("took_seconds_count{what=\"x\"} 2\n"))
    #expect(text.contains("depth 1.5\n"))
  }

  @Test(arguments: engines)
  func everyProcessSaysWhatItHasDone(engine: Engine) async throws {
    try await withStack(engine) { stack in
      let alice = try await stack.signIn("alice")
      _ = try await alice.browser.get("/api/v1/credits/balance")
      _ = try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": alice.refresh])
      _ = try await stack.gateway.post("/api/v1/auth/refresh", ["refresh_token": alice.refresh])
      _ = try await stack.gateway.post("/api/v1/auth/dev/token", ["email": "x@example.com"])
      _ = try await stack.gateway.post("/auth/v1/signup")
      _ = try await stack.gateway.post("/auth/v1/signup", ["email": "x@example.com"])
      let auth = try await stack.auth.get("/metrics").text
      for line in [
        #"kith_sign_ins_total{way="developer",outcome="done"} 1"#,
        #"kith_sign_ins_total{way="developer",outcome="refused"} 1"#,
        #"kith_sign_ins_total{way="anonymous",outcome="done"} 1"#,
        #"kith_sign_ins_total{way="sign_up",outcome="refused"} 1"#,
        #"kith_sign_ins_total{way="refresh",outcome="done"} 1"#,
        #"kith_sign_ins_total{way="refresh",outcome="reused"} 1"#,
        #"kith_http_requests_total{route="/api/v1/auth/me",method="GET",status="200"} 1"#,
        #"kith_database_statement_seconds_count{kind="rows"}"#, "process_resident_memory_bytes ",
      ] { #expect(auth.contains(line), "\(line)\n\(auth)") }
      let credits = try await stack.credits.get("/metrics").text
      #expect(credits.contains(#"route="/api/v1/credits/balance",method="GET",status="200"} 1"#))
      // No personal data, and no raw path.
      for secret in [alice.id.description, "alice", alice.access, alice.refresh] {
        #expect(!auth.contains(secret) && !credits.contains(secret))
      }
    }
  }

  @Test func metricsAreForThisMachineAndForServices() async throws {
    try await withStack(.sqlite) { stack in
      let here = try await stack.auth.get("/metrics")
      #expect(here.status == 200)
      #expect(here.headers.first(name: "content-type") == "text/plain; version=0.0.4; charset=utf-8")
      let forwarded = stack.auth.with(["X-Forwarded-For": "203.0.113.9"])
      #expect(try await forwarded.get("/metrics").status == 404)
      #expect(try await forwarded.with(stack.with(key: "plain")).get("/metrics").status == 200)
    }
  }

  @Test(.enabled(if: Python.isAvailable, "PYTHON IS NOT THERE: what Prometheus' own parser says was not asked"))
  func prometheusOwnParserReadsEveryLine() async throws {
    try await withStack(.sqlite) { stack in
      let alice = try await stack.signIn("alice")
      _ = try await alice.browser.get("/api/v1/credits/balance")
      _ = try await stack.gateway.get("/nowhere")
      for process in [
        stack.gateway, stack.auth, stack.credits, stack.lists, stack.groups, stack.invites, stack.events,
      ] {
        let text = try await process.get("/metrics").text
        let families = try await Python.run(
          """
          import sys
          from prometheus_client.parser import text_string_to_metric_families
          for family in text_string_to_metric_families(sys.stdin.read()):
              assert family.type != "unknown" and family.documentation, family
              print(family.type, family.name, len(family.samples))
          """, input: text)
        #expect(families.contains("counter "), "\(families)")
        #expect(families.contains("histogram "))
        #expect(families.contains("gauge process_resident_memory_bytes 1"))
      }
      // The premise: invalid text is rejected.
      await #expect(throws: (any Error).self) {
        _ = try await Python.run(
          """
          import sys
          from prometheus_client.parser import text_string_to_metric_families
          list(text_string_to_metric_families(sys.stdin.read()))
          """, input: "a{b=\"c} 1\n")
      }
    }
  }
}
