import Foundation
import Support
import Testing
import Wire

/// The access log of whole processes.
@Suite struct AccessLogTests {
  @Test(arguments: ["json", "text"], [false, true])
  func everyRequestHasOneLineWithItsFields(format: String, isTraced: Bool) async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      var settings = ["LOG_FORMAT": format]
      // Nothing listens there; the requests are traced all the same.
      if isTraced { settings["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://127.0.0.1:\(try freePort())" }
      let kith = try await KithProcess.start(in: testDatabase, settings)
      for (name, browser) in [("gateway", kith.gateway), ("credits", kith.credits)] {
        let balance = try await browser.with(["X-Request-Id": "\(name)-1"]).get("/api/v1/credits/balance")
        #expect(balance.status == 401)
        #expect(try await browser.with(["X-Request-Id": "\(name)-2"]).get("/nowhere").status == 404)
        // Only logged at `debug`.
        #expect(try await browser.with(["X-Request-Id": "\(name)-3"]).get("/health/live").status == 200)
      }
      #expect(await kith.stop() == 0)
      let printed = kith.child.printed().split(separator: "\n")
      for (name, id, route, status) in [
        ("gateway", "gateway-1", "/api/v1/credits/balance", 401), ("gateway", "gateway-2", "-", 404),
        ("credits", "credits-1", "/api/v1/credits/balance", 401), ("credits", "credits-2", "NotFound", 404),
      ] {
        let lines = printed.filter { $0.contains(id) }
        #expect(lines.count == 1)
        #expect(normalized(lines.first ?? "") == expected(format, name, id, route, status, isTraced: isTraced))
      }
      #expect(!printed.contains { $0.contains("gateway-3") || $0.contains("credits-3") })
    }
  }

  /// A line without its time, duration and trace id.
  private func normalized(_ line: Substring) -> String {
    String(line).replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, with: "TIME")
      .replacing(/[0-9a-f]{32}/, with: "TRACE")
      .replacing(/"duration_ms":[0-9.]+/, with: #""duration_ms":MS"#)
      .replacing(/duration_ms=[0-9.]+/, with: "duration_ms=MS")
  }

  private func expected(
    _ format: String, _ service: String, _ id: String, _ route: String, _ status: Int, isTraced: Bool
  ) -> String {
    guard format == "json" else {
      return "TIME info \(service): request duration_ms=MS method=GET request_id=\(id) route=\(route) status=\(status)"
        + (isTraced ? " trace_id=TRACE" : "")
    }
    return
      #"{"time":"TIME","level":"info","service":"\#(service)","message":"request","duration_ms":MS,"method":"GET","#
      + #""request_id":"\#(id)","route":"\#(route)","status":\#(status)"# + (isTraced ? #","trace_id":"TRACE"}"# : "}")
  }

  @Test func aFullDiskOfTheLogStopsNobodyAndIsSeenInTheMetrics() async throws {
    try await withTestDatabase(.sqlite) { testDatabase in
      let environment = try KithProcess.environment(testDatabase)
      let kith = try ChildProcess([executable("kith")], environment: environment, output: "/dev/full")
      func browser(_ port: String) -> Browser { Browser("http://127.0.0.1:\(environment[port] ?? "")") }
      try await eventually("the start") {
        do { return try await browser("PORT").get("/health").status == 200 } catch { return false }
      }
      for port in ["PORT", "CREDITS_PORT"] {
        for _ in 0..<20 { #expect(try await browser(port).get("/nowhere").status == 404) }
        try await eventually("dropped lines") {
          let text = try await browser(port).get("/metrics").text
          let line = text.split(separator: "\n").first { $0.hasPrefix("kith_log_lines_dropped_total ") }
          return (line?.split(separator: " ").last.flatMap { Int($0) } ?? 0) >= 20
        }
      }
      kith.signal(SIGTERM)
      #expect(await kith.end() == 0)
    }
  }
}
