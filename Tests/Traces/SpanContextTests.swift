import Testing
import Wire

/// Parsing of trace context headers.
@Suite struct SpanContextTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let span = "b7ad6b7169203331"

  @Test func aTraceIsReadAndSaidAgain() throws {
    let header = "00-\(Self.trace)-\(Self.span)-01"
    let context = try #require(SpanContext(traceparent: header))
    #expect(context.traceID == Self.trace)
    #expect(context.spanID == Self.span)
    #expect(context.isSampled)
    #expect(context.traceparent == header)
    #expect(SpanContext(traceparent: "00-\(Self.trace)-\(Self.span)-00")?.isSampled == false)
    // Only the lowest bit is the sampled flag; the others are for later versions.
    #expect(SpanContext(traceparent: "00-\(Self.trace)-\(Self.span)-fe")?.isSampled == false)
    #expect(SpanContext(traceparent: "00-\(Self.trace)-\(Self.span)-03")?.traceparent == header)
  }

  @Test func idsKeepTheirZeros() {
    let context = SpanContext(trace: 1, span: 2, isSampled: false)
    #expect(context.traceparent == "00-00000000000000000000000000000001-0000000000000002-00")
  }

  @Test(arguments: [
    "cc-\(trace)-\(span)-01", "01-\(trace)-\(span)-01-and-more", "fe-\(trace)-\(span)-01-",
  ])
  func versionsToComeAreReadAsTheOneOfToday(header: String) {
    #expect(SpanContext(traceparent: header)?.traceparent == "00-\(Self.trace)-\(Self.span)-01")
  }

  @Test(arguments: [
    "", "00", "-", "00-\(trace)-\(span)", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-more",
    "ff-\(trace)-\(span)-01", "0-\(trace)-\(span)-01", "000-\(trace)-\(span)-01", "0x-\(trace)-\(span)-01",
    "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-001", "00-\(trace)-\(span)-0g", "00-\(trace)-\(span)-+1",
    "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span.uppercased())-01", "00-\(trace)0-\(span)-01",
    "00-\(trace.dropLast())-\(span)-01", "00-\(trace)-\(span.dropLast())-01", " 00-\(trace)-\(span)-01",
    "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01", "00_\(trace)_\(span)_01",
    "cc-\(trace)-\(span)-01.more", "00-\(trace)-\(span)-01, 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-٠1",
  ])
  func nonsenseIsNoTrace(header: String) {
    #expect(SpanContext(traceparent: header) == nil)
    #expect(Trace(requestID: nil, traceparent: header, tracestate: "a=1").traceparent == nil)
    #expect(Trace(requestID: nil, traceparent: header, tracestate: "a=1").tracestate == nil)
  }

  @Test(arguments: ["a=1", "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7", "fw529a3039@dt=FfG,  b_-*/=x y", "a=1,,b=2"])
  func whatOthersNoteIsPassedOn(state: String) {
    #expect(
      Trace(requestID: nil, traceparent: "00-\(Self.trace)-\(Self.span)-01", tracestate: state).tracestate == state)
  }

  @Test(arguments: [
    "", ",", "a", "a=", "=1", "A=1", "a=1=2", "a=é", "a b=1", "a=1\u{1}", "a=" + String(repeating: "x", count: 511),
    (0..<33).map { "k\($0)=v" }.joined(separator: ","),
  ])
  func nonsenseIsNotPassedOn(state: String) {
    #expect(Trace(requestID: nil, traceparent: "00-\(Self.trace)-\(Self.span)-01", tracestate: state).tracestate == nil)
  }
}
