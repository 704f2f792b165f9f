import Prometheus
import Web

/// The metrics of the gateway, for export in the Prometheus text format 0.0.4.
struct GatewayMetrics: Sendable {
  let series: [(route: Route?, series: EventLoopMetrics.Series)]
  let tunnels: TunnelMetrics
  let connections: Int
  let bufferedBytes: Int
  let endpoints: [Endpoint]
  let limitedKeys: Int
  let isRedisAway: Bool
  let registry: MetricsRegistry

  func text() -> String {
    var text = PrometheusText()
    let name = "kith_gateway_requests_total"
    text.head(name, .counter, "Requests by route, method and status.")
    for (labels, series) in merged {
      for (status, count) in series.counts.sorted(by: { $0.key < $1.key }) {
        text.line(name, ["route", "method", "status"], labels + [String(status)], Double(count))
      }
    }
    let durations = "kith_gateway_request_duration_seconds"
    text.head(durations, .histogram, "Time from a request's head to the end of its answer.")
    for (labels, series) in merged { text.histogram(durations, ["route", "method"], labels, series.durations) }
    text.head("kith_gateway_connections", .gauge, "Open connections of clients.")
    text.line("kith_gateway_connections", [], [], Double(connections))
    tunnels.write(to: &text)
    text.head("kith_gateway_buffered_bytes", .gauge, "Bytes of requests and answers that wait to be taken.")
    text.line("kith_gateway_buffered_bytes", [], [], Double(bufferedBytes))
    text.head("kith_gateway_limited_keys", .gauge, "Users and addresses whose requests are being counted.")
    text.line("kith_gateway_limited_keys", [], [], Double(limitedKeys))
    text.head("kith_gateway_redis_away", .gauge, "1 while this gateway counts by itself, as Redis is away, else 0.")
    text.line("kith_gateway_redis_away", [], [], isRedisAway ? 1 : 0)
    text.head("kith_gateway_upstream_ready", .gauge, "1 for an address of a service that takes requests, else 0.")
    for endpoint in endpoints {
      text.line(
        "kith_gateway_upstream_ready", ["service", "address"],
        [endpoint.service.rawValue, Self.address(of: endpoint)], endpoint.status == .ready ? 1 : 0)
    }
    text.head("kith_gateway_upstream_slow", .gauge, "1 for an address whose answers to probes come late, else 0.")
    for endpoint in endpoints {
      text.line(
        "kith_gateway_upstream_slow", ["service", "address"],
        [endpoint.service.rawValue, Self.address(of: endpoint)], endpoint.isSlow ? 1 : 0)
    }
    return text.string + registry.text()
  }

  /// The series of all event loops, summed by route.
  private var merged: [(labels: [String], series: EventLoopMetrics.Series)] {
    var all: [[String]: EventLoopMetrics.Series] = [:]
    for (route, series) in series {
      let labels = [route?.path ?? "", route?.method.rawValue ?? ""]
      for (status, count) in series.counts { all[labels, default: .init()].counts[status, default: 0] += count }
      all[labels, default: .init()].durations.add(series.durations)
    }
    return all.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ($0.key, $0.value) }
  }

  private static func address(of endpoint: Endpoint) -> String {
    endpoint.address.flatMap { address in address.ipAddress.map { "\($0):\(endpoint.url.port)" } }
      ?? endpoint.url.name
  }
}
