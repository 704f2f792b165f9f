import AsyncHTTPClient
import Foundation
import Support
import Testing
import Wire

/// What browsers, monitors and developers see of the gateway: CORS, security headers, health, metrics, documentation.
@Suite struct GatewayResponseTests {
  @Test func pagesOfAllowedOriginsMayCallAndReadAndOthersMayNot() async throws {
    try await withGateway(["CORS_ORIGINS": "https://app.example.com"]) { gateway in
      let ours = gateway.browser.with(["Origin": "https://app.example.com"])
      let response = try await ours.get("/echo?n=1")
      #expect(response.headers.first(name: "access-control-allow-origin") == "https://app.example.com")
      #expect(response.headers["vary"].contains("Origin"))
      let exposed = try #require(response.headers.first(name: "access-control-expose-headers"))
      for name in ["RateLimit", "ETag", "Link", "Content-Range", "X-Request-Id"] { #expect(exposed.contains(name)) }
      let preflight = try await ours.with([
        "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization",
      ]).send(.OPTIONS, "/count")
      #expect(preflight.status == 204)
      #expect(preflight.headers.first(name: "access-control-allow-methods") == "DELETE, OPTIONS, POST")
      #expect(preflight.headers.first(name: "access-control-allow-headers")?.contains("Authorization") == true)
      let theirs = gateway.browser.with(["Origin": "https://evil.example.com"])
      let denied = try await theirs.get("/echo?n=1")
      #expect(denied.headers.first(name: "access-control-allow-origin") == nil)
      // A cache must not give our pages a response for another origin.
      for path in ["/echo?n=1", "/nowhere"] {
        #expect(try await theirs.get(path).headers["vary"] == ["Origin"])
        #expect(try await gateway.browser.get(path).headers["vary"] == ["Origin"])
      }
      let refused = try await theirs.with(["Access-Control-Request-Method": "POST"]).send(.OPTIONS, "/count")
      #expect(refused.headers.first(name: "access-control-allow-origin") == nil)
      // A refusal can be read by the page, too.
      let missing = try await ours.get("/nowhere")
      #expect(missing.status == 404)
      #expect(missing.headers.first(name: "access-control-allow-origin") == "https://app.example.com")
    }
  }

  @Test func withoutConfigurationNoOriginIsAllowed() async throws {
    try await withGateway { gateway in
      let response = try await gateway.browser.with(["Origin": "https://app.example.com"]).get("/echo?n=1")
      #expect(response.status == 200)
      #expect(response.headers.first(name: "access-control-allow-origin") == nil)
    }
  }

  @Test func whatIsTheSameForAllOriginsSaysSo() async throws {
    try await withGateway(["CORS_ORIGINS": "*"]) { gateway in
      let response = try await gateway.browser.with(["Origin": "https://anywhere.example.com"]).get("/echo?n=1")
      #expect(response.headers.first(name: "access-control-allow-origin") == "*")
      #expect(response.headers["vary"].isEmpty)
    }
  }

  @Test func anAnswerWithoutABodyHasNoLength() async throws {
    try await withGateway { gateway in
      let response = try await gateway.browser.delete("/echo")
      #expect(response.status == 204)
      #expect(response.headers["content-length"].isEmpty)
    }
  }

  @Test func everyAnswerIsGuardedAgainstBeingTakenForAPage() async throws {
    try await withGateway { gateway in
      for path in ["/echo?n=1", "/nowhere", "/health", "/away"] {
        let response = try await gateway.browser.get(path)
        #expect(response.headers["x-content-type-options"] == ["nosniff"], "\(path)")
        #expect(response.headers["referrer-policy"] == ["no-referrer"], "\(path)")
        #expect(response.headers["content-security-policy"].count == 1, "\(path)")
        #expect(response.headers.contains(name: "date"), "\(path)")
        #expect(response.headers["strict-transport-security"].isEmpty, "\(path)")
      }
    }
  }

  @Test func strangersSeeThatItIsWellAndInsidersSeeMore() async throws {
    try await withGateway { gateway in
      // A caller behind a proxy is external, also when the proxy is on this machine.
      let stranger = gateway.browser.with(["X-Forwarded-For": "203.0.113.9"])
      let seen = try await stranger.get("/health")
      #expect(seen.status == 200)
      #expect(seen.string("status") == "ok")
      #expect(seen["services"] == nil)
      #expect(try await stranger.get("/metrics").status == 404)
      let service = stranger.with(gateway.stack.with(key: "plain"))
      #expect(try await service.get("/health")["services"] != nil)
      #expect(try await service.get("/metrics").status == 200)
      #expect(try await stranger.with(["X-Service-Key": "wrong"]).get("/metrics").status == 404)
      let here = try await gateway.browser.get("/health")
      #expect((here["services"] as? [String: String])?["credits"] == "ok")
    }
  }

  /// A proxy on this machine need not send forwarding headers.
  @Test(arguments: ["staging", "production"])
  func outsideOfDevelopmentThisMachineIsNobodyInParticular(stage: String) async throws {
    try await withGateway(["ENVIRONMENT": stage, "DRAIN_SECONDS": "0"]) { gateway in
      let strange = try await gateway.browser.get("/metrics")
      #expect(strange.status == 404)
      #expect(try await gateway.browser.get("/health")["services"] == nil)
      let key = TestStack.keys["plain"] ?? ""
      for header in [["X-Service-Key": key], ["Authorization": "Bearer \(key)"], ["Authorization": "bearer \(key)"]] {
        let monitor = gateway.browser.with(header)
        #expect(try await monitor.get("/metrics").status == 200)
        #expect(try await monitor.get("/health")["services"] != nil)
      }
      for header in [["Authorization": "Bearer wrong"], ["Authorization": key], ["X-Service-Key": "wrong"]] {
        #expect(try await gateway.browser.with(header).get("/metrics").status == 404)
      }
    }
  }

  @Test func whatAServiceSaysOfItselfIsNotSaidTwice() async throws {
    try await withGateway { gateway in
      let response = try await gateway.browser.get("/guarded")
      #expect(response.headers["referrer-policy"] == ["same-origin"])
      #expect(response.headers["x-content-type-options"] == ["nosniff"])
      #expect(response.headers["content-security-policy"] == ["default-src 'self'"])
      let plain = try await gateway.browser.get("/echo?n=1")
      #expect(plain.headers["referrer-policy"] == ["no-referrer"])
    }
  }

  @Test func whatIsTrueOfOneCallerOrOneMomentIsNotKept() async throws {
    try await withGateway { gateway in
      for path in ["/nowhere", "/who", "/away", "/health", "/health/ready", "/metrics"] {
        let response = try await gateway.browser.get(path)
        #expect(response.headers["cache-control"] == ["no-store"], "\(path)")
      }
      #expect(try await gateway.browser.get("/openapi.json").headers["cache-control"].isEmpty)
    }
  }

  @Test func metricsCountByRouteAndStatus() async throws {
    try await withGateway { gateway in
      for _ in 0..<3 { _ = try await gateway.browser.get("/echo?n=1") }
      _ = try await gateway.browser.get("/nowhere")
      let metrics = try await gateway.browser.get("/metrics").text
      let echo = #"route="/echo",method="GET""#
      #expect(metrics.contains("kith_gateway_requests_total{\(echo),status=\"200\"} 3\n"), "\(metrics)")
      #expect(metrics.contains("kith_gateway_request_duration_seconds_count{\(echo)} 3\n"))
      #expect(metrics.contains("kith_gateway_upstream_ready{service=\"credits\""))
    }
  }

  @Test func whoAsksTooOftenIsToldHowLongToWaitInTheBody() async throws {
    try await withGateway(["RATE_LIMIT": "1"]) { gateway in
      _ = try await gateway.browser.get("/api/v1/credits/costs")
      let refused = try await gateway.browser.get("/api/v1/credits/costs")
      #expect(refused.status == 429)
      let error = try #require(refused["error"] as? [String: Any])
      #expect(error["status"] as? Int == 429)
      let seconds = (error["retry_after"] as? Int).map { String($0) }
      #expect(seconds != nil && seconds == refused.headers.first(name: "retry-after"))
      #expect((error["timestamp"] as? String).flatMap { RFC3339.parse($0) } != nil)
    }
  }

  @Test func timingIsToldOnlyWhenItIsSwitchedOn() async throws {
    // In development it is.
    for settings in [["SERVER_TIMING": "true"], [:]] {
      try await withGateway(settings) { gateway in
        let timing = try #require(try await gateway.browser.get("/echo?n=1").headers.first(name: "server-timing"))
        #expect(timing.firstMatch(of: /^gateway;dur=\d+\.\d{3}, credits;dur=\d+\.\d{3}$/) != nil, "\(timing)")
      }
    }
    try await withGateway(["SERVER_TIMING": "false"]) { gateway in
      let response = try await gateway.browser.get("/echo?n=1")
      #expect(response.headers["server-timing"].isEmpty)
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
      // Every reference can be resolved.
      let components = document["components"] as? [String: [String: Any]] ?? [:]
      for match in document.text.matches(of: /"#\/components\/(\w+)\/([\w.]+)"/) {
        #expect(components[String(match.1)]?[String(match.2)] != nil, "\(match.0)")
      }
    }
  }

  @Test func thePagesAreThereInDevelopmentAndForDebuggingAndLoadNothingFromElsewhere() async throws {
    try await withGateway { gateway in
      for (path, type) in Self.pageFiles {
        let file = try await gateway.browser.get(path)
        #expect(file.status == 200, "\(path)")
        #expect(file.headers["content-type"] == ["\(type); charset=utf-8"], "\(path)")
        #expect(file.headers["content-security-policy"].count == 1)
        let policy = file.headers.first(name: "content-security-policy") ?? ""
        #expect(policy.contains("default-src 'none'") && !policy.contains("http") && !policy.contains("unsafe"))
      }
      for path in ["/docs", "/redoc"] {
        let page = try await gateway.browser.get(path)
        #expect(page.text.firstMatch(of: /(src|href)="(?!\/(docs|openapi)|data:)/) == nil, "\(path)")
        for match in page.text.matches(of: /(?:src|href)="(\/[^"]+)"/) {
          #expect(try await gateway.browser.get(String(match.1)).status == 200, "\(match.1)")
        }
      }
    }
    for settings in [["DEBUG": "false"], ["ENVIRONMENT": "staging"]] {
      try await withGateway(settings) { gateway in
        for path in Self.pageFiles.keys {
          let page = try await gateway.browser.get(path)
          #expect(page.status == 404, "\(path)")
        }
      }
    }
    try await withGateway(["ENVIRONMENT": "staging", "DEBUG": "true"]) { gateway in
      let page = try await gateway.browser.get("/docs")
      #expect(page.status == 200)
    }
  }

  @Test func theBundlesAreCompressed() async throws {
    try await withGateway { gateway in
      for path in ["/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/docs/redoc.standalone.js"] {
        let bundle = try await gateway.browser.get(path)
        #expect(bundle.headers["content-encoding"] == ["gzip"])
        #expect(Array(bundle.body.prefix(2)) == [0x1F, 0x8B] && bundle.body.count > 20_000, "\(path)")
      }
      #expect(try await gateway.browser.get("/docs/docs.js").headers["content-encoding"].isEmpty)
    }
  }

  private static let pageFiles = [
    "/docs": "text/html", "/docs/docs.js": "text/javascript", "/docs/swagger-ui-bundle.js": "text/javascript",
    "/docs/swagger-ui.css": "text/css", "/redoc": "text/html", "/docs/redoc.js": "text/javascript",
    "/docs/redoc.standalone.js": "text/javascript",
  ]
}
