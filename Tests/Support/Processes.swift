import Foundation
import Web

/// Every service in a process of its own, and the gateway before them.
package struct Processes: Sendable {
  package let all: [String: KithProcess]
  private let environments: [String: [String: String]]
  private let place: Place

  package static let names = ["gateway"] + ServiceName.built.map(\.rawValue)

  /// Starts them in this order, and waits for nothing.
  ///
  /// - Parameter keys: the variables with the service keys of a process.
  package init(
    _ names: [String] = Self.names, in place: Place, _ overrides: [String: String] = [:],
    keys: (String) -> [String: String] = { ["SERVICE_KEY": TestStack.keys[$0] ?? ""] }
  ) throws {
    var shared = try KithProcess.environment(place).merging(overrides) { $1 }
    for service in ServiceName.built {
      shared["\(service.variable)_URL"] = "http://127.0.0.1:\(shared["\(service.variable)_PORT"] ?? "")"
    }
    var environments: [String: [String: String]] = [:]
    var all: [String: KithProcess] = [:]
    for name in names {
      var environment = shared
      if let service = ServiceName(rawValue: name) { environment["PORT"] = shared["\(service.variable)_PORT"] }
      environment.merge(keys(name)) { $1 }
      environments[name] = environment
      all[name] = try .launch("kith-\(name)", environment, in: place)
    }
    (self.environments, self.all, self.place) = (environments, all, place)
  }

  package var gateway: Browser { all["gateway"]?.gateway ?? Browser("") }

  /// Until each of them serves.
  package func ready() async throws {
    for process in all.values { try await process.healthy("/health/ready") }
    try await all["gateway"]?.healthy()
  }

  /// Another one in the place of one that has ended.
  package func again(_ name: String) throws -> KithProcess {
    try .launch("kith-\(name)", environments[name] ?? [:], in: place)
  }
}
