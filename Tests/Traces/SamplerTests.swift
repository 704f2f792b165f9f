import Support
import Testing
import Traces
import Wire

/// Which traces are sampled, and whose decisions are followed.
@Suite struct SamplerTests {
  /// How many of 1000 requests are sampled.
  private func sampled(
    _ ratio: Double, isParentBased: Bool = true, under parent: (Int) -> String? = { _ in nil }, isTrusted: Bool = false
  ) throws -> Int {
    let tracer = try TracingFixture(to: try CollectorServer(), ratio: ratio, isParentBased: isParentBased).tracer
    return (0..<1000).count { tracer.begin(continuing: parent($0), isTrusted: isTrusted).context.isSampled }
  }

  /// The headers of traces whose ids are in every share.
  private func lowest(flags: String) -> (Int) -> String? {
    { "00-\(SpanContext.hex($0 + 1, digits: 16))0000000000000001-00000000000000aa-\(flags)" }
  }

  @Test func theShareIsKept() throws {
    #expect(try sampled(1) == 1000)
    #expect(try sampled(0) == 0)
    #expect((150...350).contains(try sampled(0.25)))
  }

  @Test func aServiceThatHasDecidedIsFollowed() throws {
    #expect(try sampled(0, under: lowest(flags: "01"), isTrusted: true) == 1000)
    #expect(try sampled(1, under: lowest(flags: "00"), isTrusted: true) == 0)
    #expect(try sampled(0, isParentBased: false, under: lowest(flags: "01"), isTrusted: true) == 0)
    #expect(try sampled(1, isParentBased: false, under: lowest(flags: "00"), isTrusted: true) == 1000)
  }

  @Test func aStrangerGetsNoMoreThanTheShare() throws {
    #expect(try sampled(0, under: lowest(flags: "01")) == 0)
    #expect((20...200).contains(try sampled(0.1, under: lowest(flags: "01"))))
    #expect((20...200).contains(try sampled(0.1, isParentBased: false, under: lowest(flags: "01"))))
    #expect(try sampled(1, under: lowest(flags: "01")) == 1000)
    // It may opt out of sampling.
    #expect(try sampled(1, under: lowest(flags: "00")) == 0)
  }

  @Test func aTraceGoesOnSampledOrNot() throws {
    let tracer = try TracingFixture(to: try CollectorServer()).tracer
    for flags in ["00", "01"] {
      let span = tracer.begin(
        continuing: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-\(flags)", isTrusted: true)
      #expect(span.context.traceID == "0af7651916cd43dd8448eb211c80319c")
      #expect(span.context.spanID != "b7ad6b7169203331")
      let client = span.beginClientSpan().context
      #expect(client.traceID == span.context.traceID)
      #expect(client.spanID != span.context.spanID)
      #expect(client.traceparent.hasSuffix("-\(flags)"))
    }
  }
}
