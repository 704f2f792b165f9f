import Foundation
import Traces

/// Whether and where this process tells what it does (`OTEL_…`).
extension Surroundings {
  /// nil unless a collector is named.
  ///
  /// - Throws: ``StartFailure`` for a variable that cannot be understood; never with its value.
  func tracer(for service: ServiceName) throws -> Tracer? {
    try tracer(called: service.rawValue, at: neighbours.urls(of: service).first.flatMap { URL(string: $0) }, "http")
  }

  /// The same for the gateway, which clients know by `PUBLIC_URL`.
  package func tracer(ofGatewayWithTLS isTLS: Bool) throws -> Tracer? {
    let url = settings.nonempty("PUBLIC_URL").flatMap { URL(string: $0) }
    return try tracer(called: "gateway", at: url, isTLS ? "https" : "http")
  }

  private func tracer(called name: String, at address: URL?, _ scheme: String) throws -> Tracer? {
    guard let url = try settings.collectorURL(), let sampler = try settings.sampler() else { return nil }
    let teller = Teller(try settings.resource(of: name), scope: "kith.\(name)", version: Kith.version)
    let collector = Collector(url, headers: try settings.collectorHeaders(), from: teller)
    let exporter = SpanExporter(to: collector, pace: try settings.pace(), registry: registry, logger: logger)
    let host = address?.host().map { [Attribute("server.address", $0)] } ?? []
    return Tracer(
      exporter, sampler: sampler, answering: [Attribute("url.scheme", address?.scheme ?? scheme)] + host)
  }
}
