import Foundation

/// The request id and trace context headers of a request, which are passed on between processes and logged.
package struct Trace: Sendable, Hashable {
  package let requestID: String
  /// The W3C Trace Context header, unchanged. nil when it is not valid.
  package let traceparent: String?
  /// Vendor-specific trace data. nil without a valid `traceparent`.
  package let tracestate: String?

  package init(requestID: String?, traceparent: String?, tracestate: String? = nil) {
    self.requestID = requestID.flatMap { Self.isValid($0) ? $0 : nil } ?? Self.newRequestID()
    self.traceparent = traceparent.flatMap { SpanContext(traceparent: $0) == nil ? nil : $0 }
    self.tracestate = self.traceparent == nil ? nil : tracestate.flatMap { TraceState.isValid($0) ? $0 : nil }
  }

  /// The trace of the request that this task handles, if any.
  @TaskLocal package static var current: Trace?

  package static func newRequestID() -> String {
    var bits = RandomBits.next()
    return String(unsafeUninitializedCapacity: 32) { text in
      for index in 0..<32 {
        let digit = UInt8(truncatingIfNeeded: bits & 0xF)
        text[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        bits >>= 4
      }
      return 32
    }
  }

  /// 1 to 128 letters, digits, `-`, `_` and `.`, which are safe in log lines and headers.
  private static func isValid(_ id: String) -> Bool {
    (1...128).contains(id.utf8.count)
      && id.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}
