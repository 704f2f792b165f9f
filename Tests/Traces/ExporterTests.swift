import Foundation
import Support
import Testing
import Traces

/// Batching, retries and drops, with a collector that works and one that fails.
@Suite struct ExporterTests {
  @Test func aBatchIsSentOnceItIsFullAndOthersInTime() async throws {
    try await withCollector { collector in
      let full = try TracingFixture(to: collector) {
        $0.scheduleDelay = .seconds(600)
        $0.batchSpansMax = 3
      }
      try await full.tracer.exporter.during {
        for _ in 0..<3 { full.trace() }
        try await eventually { collector.spans.count == 3 }
      }
      let few = try TracingFixture(to: collector)
      try await few.tracer.exporter.during {
        few.trace("/few")
        try await eventually { collector.spans.last?.name == "GET /few" }
      }
      #expect(full.sent == 3 && few.sent == 1)
    }
  }

  @Test func nineFailuresCostABatchAndNoMore() async throws {
    try await withCollector { collector in
      let log = RecordedLog()
      let fixture = try TracingFixture(to: collector, logger: log.logger) {
        $0.attemptsMax = 5
        $0.batchSpansMax = 2
      }
      collector.behavior = .failing(9, with: 503)
      try await fixture.tracer.exporter.during {
        for route in ["/1", "/2", "/3", "/4"] { fixture.trace(route) }
        try await eventually { fixture.sent == 2 }
        fixture.trace("/5")
        try await eventually { fixture.sent == 3 }
      }
      #expect(collector.spans.map(\.name) == ["GET /3", "GET /4", "GET /5"])
      #expect(fixture.count(dropped: "unreachable") == 2)
      // Each is logged once, however many attempts there were.
      #expect(log.all.map(\.level) == [.warning, .notice])
      #expect(log.all[0].text.contains("HTTP 503"))
    }
  }

  @Test(arguments: [429, 502, 503, 504]) func whatMayPassIsTriedAgain(status: Int) async throws {
    try await withCollector { collector in
      let fixture = try TracingFixture(to: collector)
      collector.behavior = .failing(1, with: status)
      try await fixture.tracer.exporter.during {
        fixture.trace()
        try await eventually { fixture.sent == 1 }
      }
      #expect(collector.times.count == 2)
    }
  }

  @Test(arguments: [400, 401, 404, 413, 500, 501, 302]) func whatWillNotPassIsNot(status: Int) async throws {
    try await withCollector { collector in
      let fixture = try TracingFixture(to: collector)
      collector.behavior = .failing(1, with: status)
      try await fixture.tracer.exporter.during {
        fixture.trace("/lost")
        try await eventually { fixture.count(dropped: "refused") == 1 }
        fixture.trace("/found")
        try await eventually { fixture.sent == 1 }
      }
      #expect(collector.spans.map(\.name) == ["GET /found"])
    }
  }

  @Test func theCollectorSaysWhenToComeBack() async throws {
    try await withCollector { collector in
      let fixture = try TracingFixture(to: collector)
      collector.behavior = .failing(1, with: 429, retryAfter: "1")
      try await fixture.tracer.exporter.during {
        fixture.trace()
        try await eventually { fixture.sent == 1 }
      }
      try #require(collector.times.count == 2)
      #expect(collector.times[1] - collector.times[0] >= .milliseconds(950))
    }
  }

  @Test func whatIsRejectedIsCountedAndSaid() async throws {
    try await withCollector { collector in
      let log = RecordedLog()
      let fixture = try TracingFixture(to: collector, logger: log.logger) { $0.batchSpansMax = 3 }
      collector.behavior = .responding(#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#)
      try await fixture.tracer.exporter.during {
        for _ in 0..<3 { fixture.trace() }
        try await eventually { fixture.sent == 1 }
        #expect(fixture.count(dropped: "refused") == 2)
        #expect(log.all.map(\.text).contains { $0.contains("rejects") && $0.contains("too old") })
        // As a JSON number as well, and never more than were sent.
        collector.behavior = .responding(#"{"partialSuccess":{"rejectedSpans":9}}"#)
        fixture.trace()
        try await eventually { fixture.count(dropped: "refused") == 3 }
      }
      // Rejected spans are not retried.
      #expect(collector.times.count == 2)
      #expect(fixture.sent == 1)
    }
  }

  @Test func whileItHangsTheQueueFillsAndNobodyWaits() async throws {
    try await withCollector { collector in
      let fixture = try TracingFixture(to: collector) {
        $0.queueSpansMax = 10
        $0.batchSpansMax = 5
        $0.requestTimeout = .seconds(1)
        $0.attemptsMax = 1
      }
      collector.behavior = .hanging
      var traced = 5000
      try await fixture.tracer.exporter.during {
        let began = ContinuousClock.now
        for _ in 0..<traced { fixture.trace() }
        // Waiting for the collector would take a thousand seconds.
        #expect(ContinuousClock.now - began < .seconds(20))
        try await eventually { fixture.count(dropped: "unreachable") > 0 }
        #expect(fixture.count(dropped: "full") >= 4890)
        collector.behavior = .normal
        // Again and again, as the queue may still be full.
        try await eventually {
          fixture.trace("/later")
          traced += 1
          return collector.spans.contains { $0.name == "GET /later" }
        }
      }
      let dropped = ["full", "unreachable", "stopped"].reduce(0) { $0 + fixture.count(dropped: $1) }
      #expect(dropped + fixture.sent == traced)
    }
  }

  @Test func stoppingSendsWhatWaits() async throws {
    try await withCollector { collector in
      let fixture = try TracingFixture(to: collector) {
        $0.scheduleDelay = .seconds(600)
        $0.batchSpansMax = 2
        $0.queueSpansMax = 7
      }
      await fixture.tracer.exporter.during { for _ in 0..<7 { fixture.trace() } }
      #expect(collector.spans.count == 7)
      #expect(fixture.sent == 7)
    }
  }

  @Test func aTaskThatIsCalledOffStillSendsWhatWaits() async throws {
    try await withCollector { collector in
      let fixture = try TracingFixture(to: collector) { $0.scheduleDelay = .seconds(600) }
      let running = Task {
        try await fixture.tracer.exporter.during {
          fixture.trace()
          try await Task.sleep(for: .seconds(600))
        }
      }
      running.cancel()
      await #expect(throws: CancellationError.self) { try await running.value }
      #expect(collector.spans.count == 1)
    }
  }

  @Test func stoppingWaitsForNobodyThatHangs() async throws {
    try await withCollector { collector in
      let fixture = try TracingFixture(to: collector) {
        $0.flushTimeout = .milliseconds(300)
        $0.requestTimeout = .seconds(600)
      }
      collector.behavior = .hanging
      let began = ContinuousClock.now
      try await fixture.tracer.exporter.during {
        fixture.trace()
        try await eventually { !collector.times.isEmpty }
      }
      #expect(ContinuousClock.now - began < .seconds(60))
      #expect(fixture.count(dropped: "stopped") == 1)
    }
  }

  @Test func aCollectorThatComesLaterGetsWhatComesLater() async throws {
    let collector = try CollectorServer()
    let fixture = try TracingFixture(to: collector) { $0.attemptsMax = 2 }
    try await fixture.tracer.exporter.during {
      fixture.trace("/early")
      try await eventually { fixture.count(dropped: "unreachable") == 1 }
      try await collector.whileRunning {
        fixture.trace("/late")
        try await eventually { fixture.sent == 1 }
      }
    }
    #expect(collector.spans.map(\.name) == ["GET /late"])
  }
}
