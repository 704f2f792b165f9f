import Web

/// What the gateway has counted, as Prometheus reads it (text format 0.0.4).
struct Metrics: Sendable {
  let series: [(route: Route?, series: LoopMetrics.Series)]
  let connections: Int
  let endpoints: [Endpoint]
  let residentBytes: Int?
  let limitedKeys: Int

  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  func text() -> String {
    var lines: [String] = []
    func head(_ name: String, _ type: String, _ help: String) {
      lines.append("# HELP \(name) \(help)")
      lines.append("# TYPE \(name) \(type)")
    }
    head("kith_gateway_requests_total", "counter", "Requests by route, method and status.")
    for (labels, series) in merged {
      for (status, count) in series.counts.sorted(by: { $0.key < $1.key }) {
        lines.append("kith_gateway_requests_total{\(labels),status=\"\(status)\"} \(count)")
      }
    }
    let name = "kith_gateway_request_duration_seconds"
    head(name, "histogram", "Time from a request's head to the end of its answer.")
    for (labels, series) in merged {
      var sum = 0
      for (bound, count) in zip(LoopMetrics.boundsSeconds, series.buckets) {
        sum += count
        lines.append("\(name)_bucket{\(labels),le=\"\(bound)\"} \(sum)")
      }
      sum += series.buckets.last ?? 0
      lines.append("\(name)_bucket{\(labels),le=\"+Inf\"} \(sum)")
      lines.append("\(name)_sum{\(labels)} \(Double(series.nanoseconds) / 1e9)")
      lines.append("\(name)_count{\(labels)} \(sum)")
    }
    head("kith_gateway_connections", "gauge", "Open connections of clients.")
    lines.append("kith_gateway_connections \(connections)")
    head("kith_gateway_limited_keys", "gauge", "Users and addresses whose requests are being counted.")
    lines.append("kith_gateway_limited_keys \(limitedKeys)")
    head("kith_gateway_upstream_ready", "gauge", "1 for an address of a service that takes requests, else 0.")
    for endpoint in endpoints {
      let labels = "service=\"\(endpoint.service.rawValue)\",address=\"\(Self.escaped(Self.address(of: endpoint)))\""
      lines.append("kith_gateway_upstream_ready{\(labels)} \(endpoint.standing == .ready ? 1 : 0)")
    }
    if let residentBytes {
      head("process_resident_memory_bytes", "gauge", "Resident memory.")
      lines.append("process_resident_memory_bytes \(residentBytes)")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The loops' series of one route, added up.
  private var merged: [(labels: String, series: LoopMetrics.Series)] {
    var all: [String: LoopMetrics.Series] = [:]
    for (route, series) in series {
      let labels = "route=\"\(Self.escaped(route?.path ?? ""))\",method=\"\(route?.method.rawValue ?? "")\""
      all[labels, default: .init()].add(series)
    }
    return all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private static func address(of endpoint: Endpoint) -> String {
    endpoint.address.flatMap { address in address.ipAddress.map { "\($0):\(endpoint.url.port)" } }
      ?? endpoint.url.authority
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}

extension LoopMetrics.Series {
  fileprivate mutating func add(_ other: LoopMetrics.Series) {
    for (status, count) in other.counts { counts[status, default: 0] += count }
    for index in buckets.indices where index < other.buckets.count { buckets[index] += other.buckets[index] }
    nanoseconds &+= other.nanoseconds
  }
}
