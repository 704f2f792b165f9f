import AsyncHTTPClient
import Clients
import Web

/// The active health check of endpoints: `GET /health/ready`, with its intervals and timeouts.
package struct HealthProbe: Sendable {
  let interval: Duration
  /// The interval for the only endpoint of a service while it is ready: it gets all requests whatever a probe says.
  let restInterval: Duration
  /// How long an answer may take: much longer than a service needs that is merely busy.
  let timeout: Duration
  /// An answer that takes longer than this is late.
  let lateAfter: Duration
  /// How long after the gateway's start services may be unavailable before that is logged as a warning.
  let startupGrace: Duration

  /// - Parameter restInterval: fifteen times the interval by default.
  package init(
    interval: Duration = .seconds(1), restInterval: Duration? = nil, timeout: Duration = .seconds(5),
    lateAfter: Duration = .milliseconds(900),
    startupGrace: Duration = .seconds(60)
  ) {
    self.interval = interval
    self.restInterval = restInterval ?? interval * 15
    self.timeout = timeout
    self.lateAfter = lateAfter
    self.startupGrace = startupGrace
  }

  /// Probes once, and once more when the endpoint seems unreachable: an idle connection may just have been closed.
  func event(from endpoint: Endpoint) async -> EndpointHealth.Event {
    let event = await send(to: endpoint)
    return event == .unreachable && !Task.isCancelled ? await send(to: endpoint) : event
  }

  private func send(to endpoint: Endpoint) async -> EndpointHealth.Event {
    let began = ContinuousClock.now
    do {
      let response = try await OutboundHTTP.client.execute(Self.request(to: endpoint), timeout: .init(timeout))
      _ = try await response.body.collect(upTo: 64 * 1024)
      return .answered(isReady: response.status == .ok, isLate: ContinuousClock.now - began > lateAfter)
    } catch {
      // A local error says nothing about the endpoint, but may only be temporary, so it counts as a timeout.
      return EndpointHealth.Event(connecting: error) ?? .probeTimeout
    }
  }

  private static func request(to endpoint: Endpoint) -> HTTPClientRequest {
    let url = endpoint.url
    if let path = url.socketPath, let base = SocketURL.base(ofSocketAt: path) {
      return HTTPClientRequest(toProcessAt: base + "/health/ready")
    }
    var authority = url.authority
    if let address = endpoint.address?.ipAddress, !url.isTLS {
      authority = (address.contains(":") ? "[\(address)]" : address) + ":\(url.port)"
    }
    var request = HTTPClientRequest(url: "\(url.isTLS ? "https" : "http")://\(authority)/health/ready")
    request.headers.replaceOrAdd(name: "host", value: url.authority)
    return request
  }
}
