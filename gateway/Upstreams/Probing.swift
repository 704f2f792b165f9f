import AsyncHTTPClient
import Clients
import Web

/// How addresses are asked for their health, and how patiently.
package struct Probing: Sendable {
  let every: Duration
  /// How long an answer may take: much longer than a service that is merely busy needs.
  let patience: Duration
  /// From then on an answer is a late one.
  let lateAfter: Duration
  /// How long services may take to come up beside the gateway before that is worth a warning.
  let quietFor: Duration

  package init(
    every: Duration = .seconds(1), patience: Duration = .seconds(5), lateAfter: Duration = .milliseconds(900),
    quietFor: Duration = .seconds(60)
  ) {
    self.every = every
    self.patience = patience
    self.lateAfter = lateAfter
    self.quietFor = quietFor
  }

  /// Asks once. A kept connection may have broken for being old, so then once more, on a new one.
  func ask(_ endpoint: Endpoint) async -> EndpointHealth.Event {
    let event = await once(endpoint)
    return event == .unreachable && !Task.isCancelled ? await once(endpoint) : event
  }

  private func once(_ endpoint: Endpoint) async -> EndpointHealth.Event {
    let began = ContinuousClock.now
    do {
      let response = try await Outbound.http.execute(Self.request(to: endpoint), timeout: .init(patience))
      _ = try await response.body.collect(upTo: 64 * 1024)
      return .answered(isReady: response.status == .ok, isLate: ContinuousClock.now - began > lateAfter)
    } catch {
      // What cannot even be asked says nothing; not for long, so it counts as silence.
      return EndpointHealth.Event(connecting: error) ?? .silent
    }
  }

  private static func request(to endpoint: Endpoint) -> HTTPClientRequest {
    let url = endpoint.url
    var authority = url.authority
    if let address = endpoint.address?.ipAddress, !url.isTLS {
      authority = (address.contains(":") ? "[\(address)]" : address) + ":\(url.port)"
    }
    var request = HTTPClientRequest(url: "\(url.isTLS ? "https" : "http")://\(authority)/health/ready")
    request.headers.replaceOrAdd(name: "host", value: url.authority)
    return request
  }
}
