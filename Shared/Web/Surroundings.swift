import Foundation
import Logging
import Measures
import Synchronization

/// What a service is built in: configuration, clock, log, and where the others are. Tests make their own.
package struct Surroundings: Sendable {
  package let settings: Settings
  package let neighbours: Neighbours
  package let logger: Logger
  /// What this service counts and measures.
  package let registry: Registry
  package let now: @Sendable () -> Date

  package init(
    _ settings: Settings, neighbours: Neighbours? = nil, logger: Logger, registry: Registry = Registry(),
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.settings = settings
    self.neighbours = neighbours ?? Neighbours(settings)
    self.logger = logger
    self.registry = registry
    self.now = now
  }

  package func with(_ settings: Settings, logger: Logger? = nil) -> Surroundings {
    Surroundings(settings, neighbours: neighbours, logger: logger ?? self.logger, now: now)
  }
}

/// The services that a process can call. Port and URL are `AUTH_PORT`, `AUTH_URL` and so on.
package enum ServiceName: String, Sendable, CaseIterable {
  case auth, invites, groups, lists, credits, adventures, timepoints

  /// Those that come with this version; the others are nowhere until their URL says where.
  package static let built: [ServiceName] = [.auth, .invites, .groups, .lists, .credits]

  package var isBuilt: Bool { Self.built.contains(self) }

  package var defaultPort: Int {
    switch self {
    case .auth: 8081
    case .invites: 8082
    case .groups: 8083
    case .lists: 8084
    case .credits: 8085
    case .adventures: 8086
    case .timepoints: 8087
    }
  }

  package var variable: String { rawValue.uppercased() }
}

/// Where the services are. In one process their ports may be known only once they listen.
package final class Neighbours: Sendable {
  private let urls: Mutex<[ServiceName: [String]]>
  private let moves = Atomic(0)

  package init(_ settings: Settings) {
    var urls: [ServiceName: [String]] = [:]
    for service in ServiceName.allCases {
      let listed = settings.list("\(service.variable)_URL").map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
      // Set but empty: nowhere.
      let isUnset = settings.string("\(service.variable)_URL") == nil
      urls[service] = isUnset && service.isBuilt ? ["http://127.0.0.1:\(service.defaultPort)"] : listed
    }
    self.urls = Mutex(urls)
  }

  package func urls(of service: ServiceName) -> [String] { urls.withLock { $0[service] ?? [] } }

  /// Services that are somewhere.
  package var present: [ServiceName] { ServiceName.allCases.filter { !urls(of: $0).isEmpty } }

  package func moved(_ service: ServiceName, to url: String) { moved(service, to: [url]) }

  package func moved(_ service: ServiceName, to url: [String]) {
    urls.withLock { $0[service] = url }
    moves.add(1, ordering: .releasing)
  }

  /// Changes whenever a service has moved.
  package var version: Int { moves.load(ordering: .acquiring) }
}
