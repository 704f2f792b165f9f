import NIOCore
import StrictHTTP
import Traces
import Wire

/// What is asked on a request's behalf elsewhere than at its service, and the trace that the request belongs to.
extension ClientHandler {
  /// Waits for something that is not of this event loop; when the client has gone in the meantime, nothing comes of it.
  func ask<T: Sendable>(_ question: @escaping @Sendable () async -> T, then: @escaping (T) -> Void) {
    let asked = serial
    let trace = trace
    let span = exchange?.spans?.server
    loop.loop.makeFutureWithTask {
      await Trace.$current.withValue(trace) { await ActiveSpan.within(span) { await question() } }
    }.assumeIsolated().whenSuccess { [self] answer in
      guard case .waiting = phase, serial == asked else { return }
      then(answer)
      advance()
      readIfWanted()
    }
  }

  func beginSpans(_ tracer: Tracer) {
    exchange?.spans = ExchangeSpans(tracer.begin(continuing: traceparent, isTrusted: isService))
  }

  /// Where the client's trace stands, if it says so soundly.
  var clientsSpan: SpanContext? { traceparent.flatMap { SpanContext(traceparent: $0) } }

  private var trace: Trace {
    Trace(
      requestID: String(decoding: requestID, as: UTF8.self),
      traceparent: traceparent, tracestate: head.fields.only(.tracestate).map { text(of: $0.value) })
  }

  /// Whoever says it twice has said nothing (W3C Trace Context §3.2).
  private var traceparent: String? { head.fields.only(.traceparent).map { text(of: $0.value) } }
}
