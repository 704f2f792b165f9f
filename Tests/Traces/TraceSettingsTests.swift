import Foundation
import Gateway
import Support
import Testing
import Web

/// Valid and invalid values of the `OTEL_…` variables.
@Suite struct TraceSettingsTests {
  private func gateway(_ settings: [String: String]) throws {
    let necessary = [
      "SERVICE_KEYS": "gateway:0123456789", "SERVICE_KEY": "0123456789", "JWT_SECRET_KEY": "a test secret 0123456789",
      "PORT": "0",
    ]
    _ = try buildGateway(Dependencies(Settings(settings.merging(necessary) { $1 }), logger: quiet))
  }

  @Test(arguments: [
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://collector"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"), ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://a?key=secret"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:secret@a"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "secret"), ("OTEL_EXPORTER_OTLP_HEADERS", "a b=secret"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "a=secret%0d%0ab:c"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=secret%"),
    ("OTEL_RESOURCE_ATTRIBUTES", "secret"), ("OTEL_TRACES_SAMPLER", "secret"), ("OTEL_TRACES_EXPORTER", "secret"),
    ("OTEL_BSP_MAX_QUEUE_SIZE", "0"), ("OTEL_BSP_SCHEDULE_DELAY", "soon"), ("OTEL_SDK_DISABLED", "secret"),
  ])
  func whatCannotBeUnderstoodStopsTheStart(name: String, value: String) throws {
    let failure = #expect(throws: StartFailure.self) {
      try gateway(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"].merging([name: value]) { $1 })
    }
    #expect(failure?.description.contains(name) == true)
    #expect(failure?.description.contains("secret") == false)
  }

  @Test(arguments: ["1.1", "-0.1", "nan", "half", "inf"]) func aShareIsFromNothingToAll(share: String) {
    let failure = #expect(throws: StartFailure.self) {
      try gateway([
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_TRACES_SAMPLER": "traceidratio",
        "OTEL_TRACES_SAMPLER_ARG": share,
      ])
    }
    #expect(failure?.description.contains("OTEL_TRACES_SAMPLER_ARG") == true)
  }

  @Test func whatIsSwitchedOffIsNotRead() throws {
    try gateway(["OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "nonsense"])
    try gateway(["OTEL_EXPORTER_OTLP_HEADERS": "nonsense"])
  }

  @Test func theCollectorLearnsWhoTellsAndWithWhichKey() async throws {
    try await withCollector { collector in
      let settings = [
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1/nowhere",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "\(collector.url)/v1/traces",
        "OTEL_EXPORTER_OTLP_HEADERS": "api-key=se%20cret, x-team = blue", "OTEL_SERVICE_NAME": "shop",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=staging,service.name=other,team=a%2Cb",
      ]
      try await withStack(.sqlite, settings) { stack in
        let reply = try await stack.gateway.get("/api/v1/auth/me")
        #expect(reply.status == 401)
      }
      let span = try #require(collector.spans.first { $0.name == "GET /api/v1/auth/me" })
      #expect(span.resource["service.name"] == "shop")
      #expect(span.scope == "kith.gateway")
      #expect(span.resource["deployment.environment.name"] == "staging")
      #expect(span.resource["team"] == "a,b")
      #expect(span.resource["telemetry.sdk.language"] == "swift")
      #expect(collector.headers.first?["api-key"] == "se cret")
      #expect(collector.headers.first?["x-team"] == "blue")
    }
  }
}
