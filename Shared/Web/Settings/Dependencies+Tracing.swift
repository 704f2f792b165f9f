import Foundation
import Traces

/// Tracing, configured by the `OTEL_…` variables.
extension Dependencies {
  /// The tracer of a service; nil when no collector is configured.
  ///
  /// - Throws: ``StartFailure`` that names a variable whose value is not valid, never the value.
  func tracer(for service: ServiceName) throws -> Tracer? {
    // Over a Unix socket it is the address of the port that is not known.
    let url = serviceAddresses.urls(of: service).first { SocketURL.path(in: $0) == nil }.flatMap { URL(string: $0) }
    return try tracer(named: service.rawValue, at: url, "http")
  }

  /// The tracer of the gateway, whose address is `PUBLIC_URL`.
  package func tracer(ofGatewayWithTLS isTLS: Bool) throws -> Tracer? {
    let url = settings.nonempty("PUBLIC_URL").flatMap { URL(string: $0) }
    return try tracer(named: "gateway", at: url, isTLS ? "https" : "http")
  }

  private func tracer(named name: String, at address: URL?, _ scheme: String) throws -> Tracer? {
    guard let url = try settings.collectorURL(), let sampler = try settings.sampler() else { return nil }
    let source = TelemetrySource(try settings.resource(of: name), scope: "kith.\(name)", version: Kith.version)
    let collector = CollectorClient(url, headers: try settings.collectorHeaders(), from: source)
    let options = try settings.batchOptions()
    let exporter = SpanExporter(to: collector, options: options, registry: registry, logger: logger)
    let host = address?.host().map { [Attribute("server.address", $0)] } ?? []
    return Tracer(
      exporter, sampler: sampler, serverAttributes: [Attribute("url.scheme", address?.scheme ?? scheme)] + host)
  }
}
