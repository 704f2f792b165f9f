import Foundation
import Support
import Testing
import Traces

/// The exact bodies that a collector receives.
@Suite struct OTLPTests {
  /// Exports one span of each kind, and returns the request body.
  private func exported() async throws -> (body: [String: Any], collector: CollectorServer) {
    let collector = try CollectorServer()
    let fixture = try TracingFixture(to: collector) { $0.scheduleDelay = .seconds(600) }
    try await collector.whileRunning {
      await fixture.tracer.exporter.during {
        let span = fixture.tracer.begin(
          continuing: "00-0af7651916cd43dd8448eb211c80319c-00000000000000aa-01", isTrusted: true)
        span.beginClientSpan().endClientSpan(
          OutgoingRequest("PUT", "/b/{}", of: "auth", host: "auth", port: 8080), .response(404), resends: 1)
        span.endServerSpan("GET", route: "/a/{id}", .response(503))
      }
    }
    let json = try JSONSerialization.jsonObject(with: try #require(collector.bodies.first))
    return (try #require(json as? [String: Any]), collector)
  }

  @Test func theShapeIsThatOfTheProtocol() async throws {
    let (body, collector) = try await exported()
    #expect(Array(body.keys) == ["resourceSpans"])
    #expect(collector.headers.first?["content-type"] == "application/json")
    let spans = collector.spans
    try #require(spans.count == 2)
    for span in spans {
      #expect(span.trace == "0af7651916cd43dd8448eb211c80319c")
      #expect(span.id.wholeMatch(of: /[0-9a-f]{16}/) != nil)
      #expect(span.resource == ["service.name": "kith-test"])
      #expect(span.scope == "kith.test")
      #expect(span.json["flags"] as? Int == 1)
      // JSON numbers are not exact for 64 bits.
      let start = try #require((span.json["startTimeUnixNano"] as? String).flatMap { UInt64($0) })
      let end = try #require((span.json["endTimeUnixNano"] as? String).flatMap { UInt64($0) })
      #expect(end >= start)
      #expect(abs(Double(start) / 1e9 - Date().timeIntervalSince1970) < 60)
      let known = [
        "traceId", "spanId", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano", "endTimeUnixNano",
        "attributes", "status",
      ]
      #expect(Set(span.json.keys) == Set(known))
    }
    let (client, server) = (spans[0], spans[1])
    #expect(server.parent == "00000000000000aa")
    #expect(client.parent == server.id)
    #expect(client.kind == 3 && server.kind == 2)
    #expect(client.isError && server.isError)
  }

  @Test func whatIsSaidFollowsTheConventions() async throws {
    let spans = try await exported().collector.spans
    try #require(spans.count == 2)
    #expect(spans[0].name == "PUT /b/{}")
    #expect(
      spans[0].attributes == [
        "http.request.method": "PUT", "url.template": "/b/{}", "peer.service": "auth", "server.address": "auth",
        "server.port": "8080", "http.response.status_code": "404", "error.type": "404",
        "http.request.resend_count": "1",
      ])
    #expect(spans[1].name == "GET /a/{id}")
    #expect(
      spans[1].attributes == [
        "http.request.method": "GET", "http.route": "/a/{id}", "http.response.status_code": "503", "error.type": "503",
      ])
    let list = try #require(spans[1].json["attributes"] as? [[String: Any]])
    let status = list.first { $0["key"] as? String == "http.response.status_code" }?["value"] as? [String: Any]
    #expect(status?["intValue"] as? String == "503")
    #expect(status?.count == 1)
  }

  @Test(arguments: [(200, false), (404, false), (499, false), (500, true), (503, true)])
  func onlyTheServersOwnFaultsAreErrors(status: Int, isError: Bool) async throws {
    try await withCollector { collector in
      let fixture = try TracingFixture(to: collector)
      await fixture.tracer.exporter.during { fixture.trace(status: status) }
      let span = try #require(collector.spans.first)
      #expect(span.isError == isError)
      #expect((span.attributes["error.type"] != nil) == isError)
      #expect(span.parent == nil)
      #expect(span.json.keys.contains("parentSpanId") == false)
    }
  }

  @Test func whatHasNoAnswerOrNoRouteSaysSo() async throws {
    try await withCollector { collector in
      let fixture = try TracingFixture(to: collector)
      await fixture.tracer.exporter.during {
        let span = fixture.tracer.begin(continuing: nil, isTrusted: false)
        span.beginClientSpan().endClientSpan(
          OutgoingRequest("GET", "/a", of: "auth", host: nil, port: nil), .noResponse("no_answer"))
        span.endServerSpan("BREW", route: nil, .incompleteResponse(200))
      }
      let spans = collector.spans
      try #require(spans.count == 2)
      #expect(spans[0].isError)
      #expect(spans[0].attributes["error.type"] == "no_answer")
      #expect(spans[0].attributes["http.response.status_code"] == nil)
      #expect(spans[1].name == "HTTP")
      #expect(spans[1].attributes["http.request.method"] == "_OTHER")
      #expect(spans[1].attributes["error.type"] == "cut_off")
      #expect(!spans[1].isError)
    }
  }
}
