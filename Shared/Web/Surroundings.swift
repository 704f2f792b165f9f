import Foundation
import Logging
import Synchronization

/// What a service is built in: configuration, clock, log, and where the others are. Tests make their own.
package struct Surroundings: Sendable {
  package let settings: Settings
  package let neighbours: Neighbours
  package let logger: Logger
  package let now: @Sendable () -> Date

  package init(
    _ settings: Settings, neighbours: Neighbours? = nil, logger: Logger,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.settings = settings
    self.neighbours = neighbours ?? Neighbours(settings)
    self.logger = logger
    self.now = now
  }

  package func with(_ settings: Settings, logger: Logger? = nil) -> Surroundings {
    Surroundings(settings, neighbours: neighbours, logger: logger ?? self.logger, now: now)
  }
}

/// The services that a process can call. Port and URL are `AUTH_PORT`, `AUTH_URL` and so on.
package enum ServiceName: String, Sendable, CaseIterable {
  case auth, credits

  package var defaultPort: Int {
    switch self {
    case .auth: 8081
    case .credits: 8085
    }
  }

  package var variable: String { rawValue.uppercased() }
}

/// Where the services are. In one process their ports may be known only once they listen.
package final class Neighbours: Sendable {
  private let urls: Mutex<[ServiceName: [String]]>

  package init(_ settings: Settings) {
    var urls: [ServiceName: [String]] = [:]
    for service in ServiceName.allCases {
      let listed = settings.list("\(service.variable)_URL").map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
      urls[service] = listed.isEmpty ? ["http://127.0.0.1:\(service.defaultPort)"] : listed
    }
    self.urls = Mutex(urls)
  }

  package func urls(of service: ServiceName) -> [String] { urls.withLock { $0[service] ?? [] } }

  package func moved(_ service: ServiceName, to url: String) { urls.withLock { $0[service] = [url] } }
}
