import Clients
import Foundation
import Hummingbird
import NIOCore
import Support
import Synchronization
import Testing
import Traces
import Web
import Wire

/// The spans that a collector receives for requests through the gateway and all services.
@Suite struct TraceStoryTests {
  private func tracing(_ collector: CollectorServer, _ more: [String: String] = [:]) -> [String: String] {
    [
      "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "20",
      "OTEL_EXPORTER_OTLP_TIMEOUT": "300", "PUBLIC_URL": "https://api.example.com",
    ].merging(more) { $1 }
  }

  /// Waits for `count` spans of the trace with a span called `name`.
  private func trace(_ collector: CollectorServer, with name: String, count: Int) async throws -> [ReceivedSpan] {
    var found: [ReceivedSpan] = []
    try await eventually("\(count) spans with \(name)") {
      let spans = collector.spans
      let trace = spans.last { $0.name == name }?.trace
      found = spans.filter { $0.trace == trace }
      return trace != nil && found.count >= count
    }
    return found
  }

  @Test func oneRequestIsOneTraceThroughThreeServices() async throws {
    try await withCollector { collector in
      try await withStack(.sqlite, tracing(collector)) { stack in
        let (alice, bob) = (try await stack.signIn("alice"), try await stack.signIn("bob"))
        // Groups calls auth to look up bob.
        let path = "/api/users/\(bob.id)/block?secret=word"
        let blocked = try await alice.browser.with(["tracestate": "secret=word"]).post(path)
        #expect(blocked.status == 200)
        let spans = try await trace(collector, with: "POST /api/users/{user}/block", count: 5)
        func span(_ service: String, _ kind: Int) throws -> ReceivedSpan {
          try #require(spans.first { $0.service == "kith-\(service)" && $0.kind == kind })
        }
        #expect(spans.count == 5)
        let (root, toGroups) = (try span("gateway", 2), try span("gateway", 3))
        let (block, toAuth) = (try span("groups", 2), try span("groups", 3))
        let people = try span("auth", 2)
        #expect(root.parent == nil)
        #expect(toGroups.parent == root.id)
        #expect(block.parent == toGroups.id)
        #expect(toAuth.parent == block.id)
        #expect(people.parent == toAuth.id)
        #expect(spans.map(\.name).count { $0 == "POST /internal/users/people" } == 2)
        #expect(toGroups.attributes["peer.service"] == "groups" && toAuth.attributes["peer.service"] == "auth")
        #expect(
          root.attributes == [
            "http.request.method": "POST", "http.route": "/api/users/{user}/block", "http.response.status_code": "200",
            "url.scheme": "https", "server.address": "api.example.com",
          ])
        #expect(people.attributes["url.scheme"] == "http")
        #expect(people.attributes["server.address"] == "127.0.0.1")
        #expect(Set(spans.map(\.scope)) == ["kith.gateway", "kith.groups", "kith.auth"])
        #expect(Set(collector.spans.compactMap { $0.resource["service.instance.id"] }).count >= 3)
        let everything = collector.bodies.map { String(decoding: $0, as: UTF8.self) }.joined()
        for secret in ["secret", "word", bob.id.description, alice.id.description, alice.access, "alice", "/block?"] {
          #expect(!everything.contains(secret), "\(secret)")
        }
      }
    }
  }

  @Test func anInsidersTraceGoesOnAndAStrangersIsNotObeyed() async throws {
    let ids = (trace: "0af7651916cd43dd8448eb211c80319c", span: "b7ad6b7169203331")
    try await withCollector { collector in
      let none = ["OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"]
      try await withStack(.sqlite, tracing(collector, none)) { stack in
        let alice = try await stack.signIn("alice")
        let stranger = alice.browser.with(["traceparent": "00-\(ids.trace)-\(ids.span)-01"])
        let service = stranger.with(stack.with(key: "plain"))
        #expect(try await stranger.get("/api/v1/credits/balance").status == 200)
        // A trace that a service has started before its call.
        #expect(try await service.get("/api/v1/credits/history").status == 200)
        let spans = try await trace(collector, with: "GET /api/v1/credits/history", count: 3)
        #expect(spans.first { $0.service == "kith-gateway" && $0.kind == 2 }?.parent == ids.span)
        #expect(collector.spans.allSatisfy { $0.trace == ids.trace && $0.name != "GET /api/v1/credits/balance" })
      }
    }
  }

  @Test func aCollectorThatHangsOrDiesIsNotFeltByAnybody() async throws {
    let collector = try CollectorServer()
    try await collector.whileRunning {
      collector.behavior = .hanging
      try await withStack(
        .sqlite, tracing(collector, ["OTEL_BSP_MAX_QUEUE_SIZE": "8", "OTEL_BSP_EXPORT_TIMEOUT": "2000"])
      ) { stack in
        let alice = try await stack.signIn("alice")
        let began = ContinuousClock.now
        for _ in 0..<50 { #expect(try await alice.browser.get("/api/v1/credits/balance").status == 200) }
        // Waiting for the collector would take a hundred seconds.
        #expect(ContinuousClock.now - began < .seconds(60))
        try await eventually("drops") {
          let metrics = try await stack.gateway.get("/metrics").text
          return metrics.contains(#"kith_spans_dropped_total{reason="full"}"#)
            && metrics.contains(#"kith_spans_dropped_total{reason="unreachable"}"#)
        }
        #expect(collector.spans.isEmpty)
        collector.behavior = .normal
        try await eventually("later spans") {
          _ = try await alice.browser.get("/api/v1/credits/history")
          return collector.spans.contains { $0.name == "GET /api/v1/credits/history" && $0.service == "kith-gateway" }
        }
      }
    }
    // The collector is down.
    try await withStack(.sqlite, tracing(collector)) { stack in
      let alice = try await stack.signIn("alice")
      #expect(try await alice.browser.get("/api/v1/credits/balance").status == 200)
    }
  }

  @Test func stoppingSendsWhatWaitsInEveryProcess() async throws {
    // On a busy machine the two seconds that a process has for it may be too short.
    var isSent = false
    for _ in 0..<3 where !isSent { isSent = try await isEverythingSentByStopping() }
    #expect(isSent)
  }

  private func isEverythingSentByStopping() async throws -> Bool {
    var isSent = false
    try await withCollector { collector in
      try await withStack(.sqlite, tracing(collector, ["OTEL_BSP_SCHEDULE_DELAY": "600000"])) { stack in
        let alice = try await stack.signIn("alice")
        #expect(try await alice.browser.get("/api/v1/credits/balance").status == 200)
        #expect(collector.times.isEmpty)
      }
      let services = collector.spans.filter { $0.name == "GET /api/v1/credits/balance" }.map(\.service)
      isSent =
        services.sorted() == ["kith-credits", "kith-gateway", "kith-gateway"]
        && collector.spans.contains { $0.service == "kith-auth" }
    }
    return isSent
  }

  @Test func switchedOffNothingIsSent() async throws {
    try await withCollector { collector in
      for off in [
        ["OTEL_SDK_DISABLED": "true"], ["OTEL_TRACES_SAMPLER": "always_off"], ["OTEL_TRACES_EXPORTER": "none"],
        ["OTEL_EXPORTER_OTLP_ENDPOINT": ""],
      ] {
        try await withStack(.sqlite, tracing(collector, off)) { stack in
          let alice = try await stack.signIn("alice")
          #expect(try await alice.browser.get("/api/v1/credits/balance").status == 200)
          #expect(try await !stack.gateway.get("/metrics").text.contains("kith_spans"))
        }
      }
      #expect(collector.times.isEmpty)
    }
  }

  @Test func aCallCarriesTheTraceOnlyWhenThereIsOne() async throws {
    let seen = Mutex<[[String: String]]>([])
    let listening = ListeningPort()
    let router = Router()
    router.get("/internal/users/{id}") { request, _ -> HTTPResponse.Status in
      seen.withLock { $0.append(request.headers.reduce(into: [:]) { $0[$1.name.rawName] = $1.value }) }
      return .notFound
    }
    let server = loopbackServer(router, listening)
    try await running([server]) {
      let dependencies = Dependencies(Settings([:]), logger: quiet)
      dependencies.serviceAddresses.set(.auth, to: "http://127.0.0.1:\(try await listening.number)")
      let users = UsersClient(in: dependencies)
      let alice = UserID.new(at: Date())
      let span = try TracingFixture(to: try CollectorServer()).tracer.begin(continuing: nil, isTrusted: false)
      let trace = Trace(
        requestID: nil, traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1")
      func call() async { await #expect(throws: Failure.self) { try await users.profile(of: alice) } }
      await call()
      await Trace.$current.withValue(trace) { await call() }
      await ActiveSpan.$current.withValue(span) { await call() }
      let headers = seen.withLock { $0 }
      try #require(headers.count == 3)
      #expect(headers[0]["traceparent"] == nil)
      #expect(headers[0]["tracestate"] == nil)
      // Traced by the caller, but not in this process.
      #expect(headers[1]["traceparent"] == trace.traceparent)
      #expect(headers[1]["tracestate"] == "a=1")
      let context = try #require(headers[2]["traceparent"].flatMap { SpanContext(traceparent: $0) })
      #expect(context.traceID == span.context.traceID)
      #expect(context.spanID != span.context.spanID)
    }
  }
}
