import Foundation
import Support
import Testing
import Traces

/// What becomes of spans when the collector is well, and when it is not.
@Suite struct ExporterTests {
  @Test func aBatchIsSentOnceItIsFullAndOthersInTime() async throws {
    try await withCollector { collector in
      let full = try Telling(to: collector) {
        $0.delay = .seconds(600)
        $0.batchMax = 3
      }
      try await full.tracer.exporter.during {
        for _ in 0..<3 { full.tell() }
        try await eventually { collector.spans.count == 3 }
      }
      let few = try Telling(to: collector)
      try await few.tracer.exporter.during {
        few.tell("/few")
        try await eventually { collector.spans.last?.name == "GET /few" }
      }
      #expect(full.sent == 3 && few.sent == 1)
    }
  }

  @Test func nineFailuresCostABatchAndNoMore() async throws {
    try await withCollector { collector in
      let log = LogLines()
      let telling = try Telling(to: collector, logger: log.logger) {
        $0.triesMax = 5
        $0.batchMax = 2
      }
      collector.mood = .failing(9, with: 503)
      try await telling.tracer.exporter.during {
        for route in ["/1", "/2", "/3", "/4"] { telling.tell(route) }
        try await eventually { telling.sent == 2 }
        telling.tell("/5")
        try await eventually { telling.sent == 3 }
      }
      #expect(collector.spans.map(\.name) == ["GET /3", "GET /4", "GET /5"])
      #expect(telling.count(dropped: "unreachable") == 2)
      // Said once each, however many tries there were.
      #expect(log.all.map(\.level) == [.warning, .notice])
      #expect(log.all[0].text.contains("HTTP 503"))
    }
  }

  @Test(arguments: [429, 502, 503, 504]) func whatMayPassIsTriedAgain(status: Int) async throws {
    try await withCollector { collector in
      let telling = try Telling(to: collector)
      collector.mood = .failing(1, with: status)
      try await telling.tracer.exporter.during {
        telling.tell()
        try await eventually { telling.sent == 1 }
      }
      #expect(collector.times.count == 2)
    }
  }

  @Test(arguments: [400, 401, 404, 413, 500, 501, 302]) func whatWillNotPassIsNot(status: Int) async throws {
    try await withCollector { collector in
      let telling = try Telling(to: collector)
      collector.mood = .failing(1, with: status)
      try await telling.tracer.exporter.during {
        telling.tell("/lost")
        try await eventually { telling.count(dropped: "refused") == 1 }
        telling.tell("/found")
        try await eventually { telling.sent == 1 }
      }
      #expect(collector.spans.map(\.name) == ["GET /found"])
    }
  }

  @Test func theCollectorSaysWhenToComeBack() async throws {
    try await withCollector { collector in
      let telling = try Telling(to: collector)
      collector.mood = .failing(1, with: 429, retryAfter: "1")
      try await telling.tracer.exporter.during {
        telling.tell()
        try await eventually { telling.sent == 1 }
      }
      try #require(collector.times.count == 2)
      #expect(collector.times[1] - collector.times[0] >= .milliseconds(950))
    }
  }

  @Test func whatIsRejectedIsCountedAndSaid() async throws {
    try await withCollector { collector in
      let log = LogLines()
      let telling = try Telling(to: collector, logger: log.logger) { $0.batchMax = 3 }
      collector.mood = .saying(#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#)
      try await telling.tracer.exporter.during {
        for _ in 0..<3 { telling.tell() }
        try await eventually { telling.sent == 1 }
        #expect(telling.count(dropped: "refused") == 2)
        #expect(log.all.map(\.text).contains { $0.contains("rejects") && $0.contains("too old") })
        // As a number too, and never more than there were.
        collector.mood = .saying(#"{"partialSuccess":{"rejectedSpans":9}}"#)
        telling.tell()
        try await eventually { telling.count(dropped: "refused") == 3 }
      }
      // Tried again, they would be rejected again.
      #expect(collector.times.count == 2)
      #expect(telling.sent == 1)
    }
  }

  @Test func whileItHangsTheQueueFillsAndNobodyWaits() async throws {
    try await withCollector { collector in
      let telling = try Telling(to: collector) {
        $0.spansMax = 10
        $0.batchMax = 5
        $0.answer = .milliseconds(200)
        $0.triesMax = 1
      }
      collector.mood = .hanging
      try await telling.tracer.exporter.during {
        let began = ContinuousClock.now
        for _ in 0..<5000 { telling.tell() }
        #expect(ContinuousClock.now - began < .seconds(2))
        try await eventually { telling.count(dropped: "unreachable") > 0 }
        #expect(telling.count(dropped: "full") >= 4980)
        collector.mood = .well
        telling.tell("/later")
        try await eventually { collector.spans.contains { $0.name == "GET /later" } }
      }
      let dropped = ["full", "unreachable", "stopped"].reduce(0) { $0 + telling.count(dropped: $1) }
      #expect(dropped + telling.sent == 5001)
    }
  }

  @Test func stoppingSendsWhatWaits() async throws {
    try await withCollector { collector in
      let telling = try Telling(to: collector) {
        $0.delay = .seconds(600)
        $0.batchMax = 2
        $0.spansMax = 7
      }
      await telling.tracer.exporter.during { for _ in 0..<7 { telling.tell() } }
      #expect(collector.spans.count == 7)
      #expect(telling.sent == 7)
    }
  }

  @Test func aTaskThatIsCalledOffStillSendsWhatWaits() async throws {
    try await withCollector { collector in
      let telling = try Telling(to: collector) { $0.delay = .seconds(600) }
      let running = Task {
        try await telling.tracer.exporter.during {
          telling.tell()
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
      let telling = try Telling(to: collector) { $0.flush = .milliseconds(300) }
      collector.mood = .hanging
      let began = ContinuousClock.now
      try await telling.tracer.exporter.during {
        telling.tell()
        try await eventually { !collector.times.isEmpty }
      }
      #expect(ContinuousClock.now - began < .seconds(5))
      #expect(telling.count(dropped: "stopped") == 1)
    }
  }

  @Test func aCollectorThatComesLaterGetsWhatComesLater() async throws {
    let collector = try CollectorServer()
    let telling = try Telling(to: collector) { $0.triesMax = 2 }
    try await telling.tracer.exporter.during {
      telling.tell("/early")
      try await eventually { telling.count(dropped: "unreachable") == 1 }
      try await collector.there {
        telling.tell("/late")
        try await eventually { telling.sent == 1 }
      }
    }
    #expect(collector.spans.map(\.name) == ["GET /late"])
  }
}
