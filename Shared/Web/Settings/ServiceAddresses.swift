import Synchronization

/// The services that a process can call. Port and URL are configured by `AUTH_PORT`, `AUTH_URL` and so on.
package enum ServiceName: String, Sendable, CaseIterable {
  case auth, invites, groups, lists, credits, events, adventures, timepoints

  /// The services of this repository; the others have no address unless their URL is set.
  package static let bundled = ServiceName.allCases

  package var isBundled: Bool { Self.bundled.contains(self) }

  package var defaultPort: Int {
    switch self {
    case .auth: 8081
    case .invites: 8082
    case .groups: 8083
    case .lists: 8084
    case .credits: 8085
    case .events: 8086
    case .adventures: 8087
    case .timepoints: 8088
    }
  }

  /// The prefix of its environment variables: `AUTH`.
  package var variablePrefix: String { rawValue.uppercased() }
}

/// The base URLs of the services. They can change while the process runs: where all services run in one process, their
/// ports are known only once they listen.
package final class ServiceAddresses: Sendable {
  /// The port of the gateway, and of `kith`, unless `PORT` is set.
  package static let gatewayPort = 8080

  private let urls: Mutex<[ServiceName: [String]]>
  private let changes = Atomic(0)

  package init(_ settings: Settings) {
    var urls: [ServiceName: [String]] = [:]
    for service in ServiceName.allCases {
      let variable = "\(service.variablePrefix)_URL"
      let listed = settings.list(variable).map { url in
        SocketURL.base(url) ?? (url.hasSuffix("/") ? String(url.dropLast()) : url)
      }
      // A variable that is set but empty means that there is no such service.
      let isUnset = settings.string(variable) == nil
      urls[service] = isUnset && service.isBundled ? [Self.defaultURL(of: service, settings)] : listed
    }
    self.urls = Mutex(urls)
  }

  private static func defaultURL(of service: ServiceName, _ settings: Settings) -> String {
    SocketURL.path(of: service, settings).flatMap { SocketURL.base(ofSocketAt: $0) }
      ?? "http://127.0.0.1:\(service.defaultPort)"
  }

  /// The base URLs of a service's replicas, without a trailing slash; empty when it has none.
  package func urls(of service: ServiceName) -> [String] { urls.withLock { $0[service] ?? [] } }

  /// The services that have at least one URL.
  package var configured: [ServiceName] { ServiceName.allCases.filter { !urls(of: $0).isEmpty } }

  package func set(_ service: ServiceName, to url: String) { set(service, to: [url]) }

  package func set(_ service: ServiceName, to urls: [String]) {
    self.urls.withLock { $0[service] = urls }
    changes.add(1, ordering: .releasing)
  }

  /// Changes whenever the URLs of a service change.
  package var version: Int { changes.load(ordering: .acquiring) }
}
