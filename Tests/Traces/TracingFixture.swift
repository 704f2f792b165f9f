import Foundation
import Logging
import Prometheus
import Support
import Traces

/// A tracer with an exporter to a fake collector, without services.
struct TracingFixture {
  let tracer: Tracer
  let registry = MetricsRegistry()

  init(
    to collector: CollectorServer, ratio: Double = 1, isParentBased: Bool = true, logger: Logger = quiet,
    _ change: (inout SpanExporter.BatchOptions) -> Void = { _ in }
  ) throws {
    var options = SpanExporter.BatchOptions()
    options.scheduleDelay = .milliseconds(20)
    options.retryDelay = .milliseconds(5)
    // A collector that answers is never too slow.
    options.flushTimeout = .seconds(60)
    change(&options)
    guard let sampler = Sampler(ratio: ratio, isParentBased: isParentBased) else { throw Unexpected(reply: "\(ratio)") }
    let source = TelemetrySource([Attribute("service.name", "kith-test")], scope: "kith.test", version: "1")
    let client = CollectorClient(collector.url + "/v1/traces", from: source)
    let exporter = SpanExporter(to: client, options: options, registry: registry, logger: logger)
    tracer = Tracer(exporter, sampler: sampler)
  }

  /// Exports the span of one request.
  func trace(_ route: String = "/a", status: Int = 200) {
    tracer.begin(continuing: nil, isTrusted: false).endServerSpan("GET", route: route, .response(status))
  }

  func count(dropped reason: String) -> Int { count(#"kith_spans_dropped_total{reason="\#(reason)"}"#) }
  var sent: Int { count("kith_spans_sent_total") }

  private func count(_ series: String) -> Int {
    let line = registry.text().split(separator: "\n").first { $0.hasPrefix(series + " ") }
    return line?.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) } ?? 0
  }
}
