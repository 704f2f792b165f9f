import NIOCore
import StrictHTTP
import Traces
import Wire

/// The trace of a request, and asynchronous calls that run within it.
extension ClientHandler {
  /// Runs `operation` in a task with the trace of the request and passes its result to `completion` on this event loop.
  /// The completion is not called when the exchange has ended in the meantime.
  func runAsync<T: Sendable>(_ operation: @escaping @Sendable () async -> T, then completion: @escaping (T) -> Void) {
    let number = exchangeNumber
    let trace = trace
    let span = exchange?.spans?.server
    loop.eventLoop.makeFutureWithTask {
      await Trace.$current.withValue(trace) { await ActiveSpan.within(span) { await operation() } }
    }.assumeIsolated().whenSuccess { [self] result in
      guard case .waiting = phase, exchangeNumber == number else { return }
      completion(result)
      advance()
      readIfWanted()
    }
  }

  func beginSpans(_ tracer: Tracer) {
    exchange?.spans = ExchangeSpans(tracer.begin(continuing: traceparent, isTrusted: hasServiceKey))
  }

  /// The span that the client names in `traceparent`, if that is valid.
  var clientSpan: SpanContext? { traceparent.flatMap { SpanContext(traceparent: $0) } }

  private var trace: Trace {
    Trace(
      requestID: String(decoding: requestID, as: UTF8.self),
      traceparent: traceparent, tracestate: head.fields.only(.tracestate).map { text(of: $0.value) })
  }

  /// nil when the header occurs more than once (W3C Trace Context §3.2).
  private var traceparent: String? { head.fields.only(.traceparent).map { text(of: $0.value) } }
}
