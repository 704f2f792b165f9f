import Foundation
import Support
import Testing
import Wire

/// The trace headers that a service receives for valid and invalid headers of the client.
@Suite struct TraceHeaderTests {
  private static let ids = (trace: "0af7651916cd43dd8448eb211c80319c", span: "b7ad6b7169203331")
  private static let parent = "00-\(ids.trace)-\(ids.span)-01"
  private static let nonsense = [
    "00-\(ids.trace)-\(ids.span)", "ff-\(ids.trace)-\(ids.span)-01", "00-\(ids.trace)-0000000000000000-01",
    "00-00000000000000000000000000000000-\(ids.span)-01", "00-\(ids.trace.uppercased())-\(ids.span)-01",
    "00-\(ids.trace)-\(ids.span)-01-more", "x",
  ]

  private func seen(_ gateway: TestGateway, _ lines: [String]) async throws -> [String: String] {
    let raw = try await RawConnection(port: gateway.port)
    let said = lines.map { $0 + "\r\n" }.joined()
    try await raw.send("GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(said)\r\n")
    let response = try await raw.untilClosed()
    let start = try #require(response.firstIndex(of: "{"))
    let end = try #require(response.lastIndex(of: "}"))
    let json = try JSONSerialization.jsonObject(with: Data(response[start...end].utf8)) as? [String: Any]
    return try #require(json?["headers"] as? [String: String])
  }

  @Test func switchedOffNothingIsAddedAndASoundTracePasses() async throws {
    try await withGateway { gateway in
      let without = try await seen(gateway, [])
      #expect(without["traceparent"] == nil && without["tracestate"] == nil)
      let with = try await seen(gateway, ["traceparent: \(Self.parent)", "TraceState: a=1"])
      #expect(with["traceparent"] == Self.parent)
      #expect(with["tracestate"] == "a=1")
      for header in Self.nonsense {
        let none = try await seen(gateway, ["traceparent: \(header)", "tracestate: a=1"])
        #expect(none["traceparent"] == nil && none["tracestate"] == nil, "\(header)")
      }
      let twice = try await seen(gateway, ["traceparent: \(Self.parent)", "traceparent: \(Self.parent)"])
      #expect(twice["traceparent"] == nil)
      let alone = try await seen(gateway, ["tracestate: a=1"])
      #expect(alone["tracestate"] == nil)
    }
  }

  @Test func aSoundTraceGoesOnAndNonsenseBeginsAnother() async throws {
    try await withGateway(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"]) { gateway in
      let with = try await seen(gateway, ["traceparent: \(Self.parent)", "tracestate: a=1"])
      let context = try #require(with["traceparent"].flatMap { SpanContext(traceparent: $0) })
      #expect(context.traceID == Self.ids.trace)
      #expect(context.spanID != Self.ids.span)
      #expect(context.isSampled)
      #expect(with["tracestate"] == "a=1")
      let silent = try await seen(gateway, ["traceparent: 00-\(Self.ids.trace)-\(Self.ids.span)-00"])
      #expect(silent["traceparent"]?.hasPrefix("00-\(Self.ids.trace)-") == true)
      #expect(silent["traceparent"]?.hasSuffix("-00") == true)
      let twice = ["traceparent: \(Self.parent)", "traceparent: \(Self.parent)"]
      for lines in Self.nonsense.map({ ["traceparent: \($0)"] }) + [[], twice] {
        let fresh = try await seen(gateway, lines + ["tracestate: a=1"])
        let context = try #require(fresh["traceparent"].flatMap { SpanContext(traceparent: $0) })
        #expect(context.traceID != Self.ids.trace, "\(lines)")
        #expect(context.isSampled)
        #expect(fresh["tracestate"] == nil, "\(lines)")
      }
    }
  }
}
