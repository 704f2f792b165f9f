import Foundation
import Logging
import Measures
import Support
import Traces

/// What tells a collector, without the services around it.
struct Telling {
  let tracer: Tracer
  let registry = Registry()

  init(
    to collector: CollectorServer, ratio: Double = 1, heedsParent: Bool = true, logger: Logger = quiet,
    _ change: (inout SpanExporter.Pace) -> Void = { _ in }
  ) throws {
    var pace = SpanExporter.Pace()
    pace.delay = .milliseconds(20)
    pace.retry = .milliseconds(5)
    change(&pace)
    guard let sampler = Sampler(ratio: ratio, heedsParent: heedsParent) else { throw Unexpected(reply: "\(ratio)") }
    let teller = Teller([Attribute("service.name", "kith-test")], scope: "kith.test", version: "1")
    let exporter = SpanExporter(
      to: Collector(collector.url + "/v1/traces", from: teller), pace: pace, registry: registry, logger: logger)
    tracer = Tracer(exporter, sampler: sampler)
  }

  /// One request that was answered.
  func tell(_ route: String = "/a", status: Int = 200) {
    tracer.begin(continuing: nil, isTrusted: false).answered("GET", route: route, .answered(status))
  }

  func count(dropped reason: String) -> Int { count(#"kith_spans_dropped_total{reason="\#(reason)"}"#) }
  var sent: Int { count("kith_spans_sent_total") }

  private func count(_ series: String) -> Int {
    let line = registry.text().split(separator: "\n").first { $0.hasPrefix(series + " ") }
    return line?.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) } ?? 0
  }
}
