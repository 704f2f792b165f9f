import Foundation
import Traces

/// The environment variables of OpenTelemetry that are supported.
extension Settings {
  /// The URL that spans are posted to; nil when tracing is off.
  func collectorURL() throws -> String? {
    guard try !bool("OTEL_SDK_DISABLED", default: false) else { return nil }
    switch string("OTEL_TRACES_EXPORTER", default: "otlp") {
    case "otlp": break
    case "none": return nil
    default: throw StartFailure("OTEL_TRACES_EXPORTER must be otlp or none")
    }
    guard let url = try tracesURL() else { return nil }
    guard string("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", or: "OTEL_EXPORTER_OTLP_PROTOCOL") ?? "http/json" == "http/json"
    else { throw StartFailure("OTEL_EXPORTER_OTLP_PROTOCOL must be http/json: Kith speaks no other") }
    return url
  }

  /// The endpoint for traces is used as it is; the general endpoint lacks the path.
  private func tracesURL() throws -> String? {
    if let url = nonempty("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
      return try validated(url, in: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    }
    guard let base = nonempty("OTEL_EXPORTER_OTLP_ENDPOINT") else { return nil }
    let url = try validated(base, in: "OTEL_EXPORTER_OTLP_ENDPOINT")
    return (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/v1/traces"
  }

  private func validated(_ text: String, in name: String) throws -> String {
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host()?.isEmpty == false,
      url.user() == nil, url.query() == nil, url.fragment() == nil
    else { throw StartFailure("\(name) must be http://host:port or https://host:port") }
    return text
  }

  /// nil when nothing is sampled, whatever the parent's decision.
  func sampler() throws -> Sampler? {
    switch string("OTEL_TRACES_SAMPLER", default: "parentbased_always_on") {
    case "parentbased_always_on": return Sampler(ratio: 1)
    case "parentbased_always_off": return Sampler(ratio: 0)
    case "parentbased_traceidratio": return try sampler(isParentBased: true)
    case "always_on": return Sampler(ratio: 1, isParentBased: false)
    case "always_off": return nil
    case "traceidratio": return try sampler(isParentBased: false)
    default:
      throw StartFailure(
        "OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, or one of them after parentbased_")
    }
  }

  private func sampler(isParentBased: Bool) throws -> Sampler {
    guard let ratio = Double(string("OTEL_TRACES_SAMPLER_ARG", default: "1")),
      let sampler = Sampler(ratio: ratio, isParentBased: isParentBased)
    else { throw StartFailure("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1") }
    return sampler
  }

  func collectorHeaders() throws -> [(name: String, value: String)] {
    let name =
      nonempty("OTEL_EXPORTER_OTLP_TRACES_HEADERS") == nil
      ? "OTEL_EXPORTER_OTLP_HEADERS" : "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
    let headers = try pairs(name)
    guard headers.allSatisfy({ $0.name.isHeaderName && $0.value.isHeaderValue }) else {
      throw StartFailure("\(name) must be name=value, comma-separated")
    }
    return headers
  }

  /// The resource attributes of the process. The variables override the defaults.
  func resource(of process: String) throws -> [Attribute] {
    var values = [
      "service.name": "kith-\(process)", "service.version": Kith.version,
      "service.instance.id": UUID().uuidString.lowercased(), "telemetry.sdk.name": "kith",
      "telemetry.sdk.language": "swift", "telemetry.sdk.version": Kith.version,
    ]
    for (name, value) in try pairs("OTEL_RESOURCE_ATTRIBUTES") { values[name] = value }
    if let name = nonempty("OTEL_SERVICE_NAME") { values["service.name"] = name }
    return values.sorted { $0.key < $1.key }.map { Attribute($0.key, $0.value) }
  }

  func batchOptions() throws -> SpanExporter.BatchOptions {
    var options = SpanExporter.BatchOptions()
    options.queueSpansMax = try int("OTEL_BSP_MAX_QUEUE_SIZE", default: 2048, in: 1...1_000_000)
    options.batchSpansMax = min(
      try int("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", default: 512, in: 1...100_000), options.queueSpansMax)
    options.scheduleDelay = .milliseconds(try int("OTEL_BSP_SCHEDULE_DELAY", default: 5000, in: 10...600_000))
    options.exportTimeout = .milliseconds(try int("OTEL_BSP_EXPORT_TIMEOUT", default: 30_000, in: 10...600_000))
    let timeout =
      nonempty("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT") == nil
      ? "OTEL_EXPORTER_OTLP_TIMEOUT" : "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"
    options.requestTimeout = .milliseconds(try int(timeout, default: 10_000, in: 10...600_000))
    return options
  }

  private func string(_ name: String, or general: String) -> String? { nonempty(name) ?? nonempty(general) }

  /// `name=value` pairs, comma-separated, with percent-encoded values.
  private func pairs(_ variable: String) throws -> [(name: String, value: String)] {
    try list(variable).map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard parts.count == 2, !parts[0].isEmpty, let value = parts[1].removingPercentEncoding else {
        throw StartFailure("\(variable) must be name=value, comma-separated")
      }
      return (parts[0], value)
    }
  }
}

extension String {
  /// RFC 9110 §5.6.2.
  fileprivate var isHeaderName: Bool {
    let others = "!#$%&'*+-.^_`|~".utf8
    return !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "A")...UInt8(ascii: "Z"):
          true
        default: others.contains(byte)
        }
      }
  }

  fileprivate var isHeaderValue: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}
