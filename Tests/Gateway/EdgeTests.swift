import AsyncHTTPClient
import Foundation
import Support
import Testing
import Wire

/// What browsers, monitors and developers see of the gateway from outside.
@Suite struct EdgeTests {
  @Test func pagesOfAllowedOriginsMayCallAndReadAndOthersMayNot() async throws {
    try await withPipe(["CORS_ORIGINS": "https://app.example.com"]) { pipe in
      let ours = pipe.browser.with(["Origin": "https://app.example.com"])
      let answer = try await ours.get("/echo?n=1")
      #expect(answer.headers.first(name: "access-control-allow-origin") == "https://app.example.com")
      #expect(answer.headers["vary"].contains("Origin"))
      let exposed = try #require(answer.headers.first(name: "access-control-expose-headers"))
      for name in ["RateLimit", "ETag", "Link", "Content-Range", "X-Request-Id"] { #expect(exposed.contains(name)) }
      let preflight = try await ours.with([
        "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization",
      ]).send(.OPTIONS, "/count")
      #expect(preflight.status == 204)
      #expect(preflight.headers.first(name: "access-control-allow-methods") == "DELETE, OPTIONS, POST")
      #expect(preflight.headers.first(name: "access-control-allow-headers")?.contains("Authorization") == true)
      let theirs = pipe.browser.with(["Origin": "https://evil.example.com"])
      let denied = try await theirs.get("/echo?n=1")
      #expect(denied.headers.first(name: "access-control-allow-origin") == nil)
      // A cache must not give our pages what it kept for somebody else.
      for path in ["/echo?n=1", "/nowhere"] {
        #expect(try await theirs.get(path).headers["vary"] == ["Origin"])
        #expect(try await pipe.browser.get(path).headers["vary"] == ["Origin"])
      }
      let refused = try await theirs.with(["Access-Control-Request-Method": "POST"]).send(.OPTIONS, "/count")
      #expect(refused.headers.first(name: "access-control-allow-origin") == nil)
      // Also what is refused can be read by the page that asked.
      let missing = try await ours.get("/nowhere")
      #expect(missing.status == 404)
      #expect(missing.headers.first(name: "access-control-allow-origin") == "https://app.example.com")
    }
  }

  @Test func withoutConfigurationNoOriginIsAllowed() async throws {
    try await withPipe { pipe in
      let answer = try await pipe.browser.with(["Origin": "https://app.example.com"]).get("/echo?n=1")
      #expect(answer.status == 200)
      #expect(answer.headers.first(name: "access-control-allow-origin") == nil)
    }
  }

  @Test func whatIsTheSameForAllOriginsSaysSo() async throws {
    try await withPipe(["CORS_ORIGINS": "*"]) { pipe in
      let answer = try await pipe.browser.with(["Origin": "https://anywhere.example.com"]).get("/echo?n=1")
      #expect(answer.headers.first(name: "access-control-allow-origin") == "*")
      #expect(answer.headers["vary"].isEmpty)
    }
  }

  @Test func anAnswerWithoutABodyHasNoLength() async throws {
    try await withPipe { pipe in
      let answer = try await pipe.browser.delete("/echo")
      #expect(answer.status == 204)
      #expect(answer.headers["content-length"].isEmpty)
    }
  }

  @Test func everyAnswerIsGuardedAgainstBeingTakenForAPage() async throws {
    try await withPipe { pipe in
      for path in ["/echo?n=1", "/nowhere", "/health", "/away"] {
        let answer = try await pipe.browser.get(path)
        #expect(answer.headers["x-content-type-options"] == ["nosniff"], "\(path)")
        #expect(answer.headers["referrer-policy"] == ["no-referrer"], "\(path)")
        #expect(answer.headers["content-security-policy"].count == 1, "\(path)")
        #expect(answer.headers.contains(name: "date"), "\(path)")
        #expect(answer.headers["strict-transport-security"].isEmpty, "\(path)")
      }
    }
  }

  @Test func strangersSeeThatItIsWellAndInsidersSeeMore() async throws {
    try await withPipe { pipe in
      // Whoever comes through a proxy is a stranger, also when the proxy is on this machine.
      let stranger = pipe.browser.with(["X-Forwarded-For": "203.0.113.9"])
      let seen = try await stranger.get("/health")
      #expect(seen.status == 200)
      #expect(seen.string("status") == "ok")
      #expect(seen["services"] == nil)
      #expect(try await stranger.get("/metrics").status == 404)
      let service = stranger.with(pipe.stack.with(key: "plain"))
      #expect(try await service.get("/health")["services"] != nil)
      #expect(try await service.get("/metrics").status == 200)
      #expect(try await stranger.with(["X-Service-Key": "wrong"]).get("/metrics").status == 404)
      let here = try await pipe.browser.get("/health")
      #expect((here["services"] as? [String: String])?["credits"] == "ok")
    }
  }

  /// A proxy that runs beside the gateway need not say that it is one.
  @Test(arguments: ["staging", "production"])
  func outsideOfDevelopmentThisMachineIsNobodyInParticular(stage: String) async throws {
    try await withPipe(["ENVIRONMENT": stage, "DRAIN_SECONDS": "0"]) { pipe in
      let strange = try await pipe.browser.get("/metrics")
      #expect(strange.status == 404)
      #expect(try await pipe.browser.get("/health")["services"] == nil)
      let key = TestStack.keys["plain"] ?? ""
      for header in [["X-Service-Key": key], ["Authorization": "Bearer \(key)"], ["Authorization": "bearer \(key)"]] {
        let monitor = pipe.browser.with(header)
        #expect(try await monitor.get("/metrics").status == 200)
        #expect(try await monitor.get("/health")["services"] != nil)
      }
      for header in [["Authorization": "Bearer wrong"], ["Authorization": key], ["X-Service-Key": "wrong"]] {
        #expect(try await pipe.browser.with(header).get("/metrics").status == 404)
      }
    }
  }

  @Test func whatAServiceSaysOfItselfIsNotSaidTwice() async throws {
    try await withPipe { pipe in
      let answer = try await pipe.browser.get("/guarded")
      #expect(answer.headers["referrer-policy"] == ["same-origin"])
      #expect(answer.headers["x-content-type-options"] == ["nosniff"])
      #expect(answer.headers["content-security-policy"] == ["default-src 'self'"])
      let plain = try await pipe.browser.get("/echo?n=1")
      #expect(plain.headers["referrer-policy"] == ["no-referrer"])
    }
  }

  @Test func whatIsTrueOfOneCallerOrOneMomentIsNotKept() async throws {
    try await withPipe { pipe in
      for path in ["/nowhere", "/who", "/away", "/health", "/health/ready", "/metrics"] {
        let answer = try await pipe.browser.get(path)
        #expect(answer.headers["cache-control"] == ["no-store"], "\(path)")
      }
      #expect(try await pipe.browser.get("/openapi.json").headers["cache-control"].isEmpty)
    }
  }

  @Test func metricsCountByRouteAndStatus() async throws {
    try await withPipe { pipe in
      for _ in 0..<3 { _ = try await pipe.browser.get("/echo?n=1") }
      _ = try await pipe.browser.get("/nowhere")
      let metrics = try await pipe.browser.get("/metrics").text
      let echo = #"route="/echo",method="GET""#
      #expect(metrics.contains("kith_gateway_requests_total{\(echo),status=\"200\"} 3\n"), "\(metrics)")
      #expect(metrics.contains("kith_gateway_request_duration_seconds_count{\(echo)} 3\n"))
      #expect(metrics.contains("kith_gateway_upstream_ready{service=\"credits\""))
    }
  }

  @Test func whoAsksTooOftenIsToldHowLongToWaitInTheBody() async throws {
    try await withPipe(["RATE_LIMIT": "1"]) { pipe in
      _ = try await pipe.browser.get("/api/v1/credits/costs")
      let refused = try await pipe.browser.get("/api/v1/credits/costs")
      #expect(refused.status == 429)
      let error = try #require(refused["error"] as? [String: Any])
      #expect(error["status"] as? Int == 429)
      let seconds = (error["retry_after"] as? Int).map { String($0) }
      #expect(seconds != nil && seconds == refused.headers.first(name: "retry-after"))
      #expect((error["timestamp"] as? String).flatMap { Instant.parse($0) } != nil)
    }
  }

  @Test func timingIsToldOnlyWhenItIsSwitchedOn() async throws {
    try await withPipe(["SERVER_TIMING": "true"]) { pipe in
      let timing = try #require(try await pipe.browser.get("/echo?n=1").headers.first(name: "server-timing"))
      #expect(timing.firstMatch(of: /^gateway;dur=\d+\.\d{3}, credits;dur=\d+\.\d{3}$/) != nil, "\(timing)")
    }
    try await withPipe { pipe in
      let answer = try await pipe.browser.get("/echo?n=1")
      #expect(answer.headers["server-timing"].isEmpty)
    }
  }

  @Test func oneDocumentDescribesEverythingThatCanBeCalled() async throws {
    try await withStack(.sqlite) { stack in
      let document = try await stack.gateway.get("/openapi.json")
      #expect(document.status == 200)
      #expect(document.string("openapi") == "3.1.0")
      let paths = try #require(document["paths"] as? [String: [String: Any]])
      #expect(paths["/api/v1/auth/me"]?["get"] != nil)
      #expect(paths["/api/v1/credits/balance"]?["get"] != nil)
      #expect(!paths.keys.contains { $0.hasPrefix("/internal") })
      let ready = paths["/health/ready"]?["get"] as? [String: Any]
      #expect(ready?["operationId"] as? String == "getGatewayReadiness", "not that of a service")
      // Every reference leads somewhere.
      let components = document["components"] as? [String: [String: Any]] ?? [:]
      for match in document.text.matches(of: /"#\/components\/(\w+)\/([\w.]+)"/) {
        #expect(components[String(match.1)]?[String(match.2)] != nil, "\(match.0)")
      }
    }
  }

  @Test func thePagesAreThereInDevelopmentAndForDebuggingAndLoadNothingFromElsewhere() async throws {
    try await withPipe { pipe in
      for path in ["/docs", "/redoc", "/docs/pages.css", "/docs/pages.js"] {
        let page = try await pipe.browser.get(path)
        #expect(page.status == 200, "\(path)")
        #expect(page.headers.first(name: "content-security-policy")?.contains("default-src 'none'") == true)
        #expect(page.headers["content-security-policy"].count == 1)
        #expect(page.text.firstMatch(of: /(src|href|import|url)[=( ]+["']?https?:/) == nil, "\(path)")
      }
      #expect(try await pipe.browser.get("/docs").headers.first(name: "content-type") == "text/html; charset=utf-8")
    }
    for settings in [["DEBUG": "false"], ["ENVIRONMENT": "staging"]] {
      try await withPipe(settings) { pipe in
        for path in ["/docs", "/redoc", "/docs/pages.css"] {
          let page = try await pipe.browser.get(path)
          #expect(page.status == 404, "\(path)")
        }
      }
    }
    try await withPipe(["ENVIRONMENT": "staging", "DEBUG": "true"]) { pipe in
      let page = try await pipe.browser.get("/docs")
      #expect(page.status == 200)
    }
  }
}
