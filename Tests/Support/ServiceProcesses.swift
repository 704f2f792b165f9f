import Foundation
import Web

/// Every service and the gateway, each in its own process.
package struct ServiceProcesses: Sendable {
  package let all: [String: KithProcess]
  private let environments: [String: [String: String]]
  private let testDatabase: TestDatabase

  package static let names = ["gateway"] + ServiceName.bundled.map(\.rawValue)

  /// Starts them in this order, without waiting until they are ready.
  ///
  /// - Parameter keys: the variables with the service keys of a process.
  package init(
    _ names: [String] = Self.names, in testDatabase: TestDatabase, _ overrides: [String: String] = [:],
    keys: (String) -> [String: String] = { ["SERVICE_KEY": TestStack.keys[$0] ?? ""] }
  ) throws {
    var shared = try KithProcess.environment(testDatabase).merging(overrides) { $1 }
    for service in ServiceName.bundled {
      let (url, port) = ("\(service.variablePrefix)_URL", shared["\(service.variablePrefix)_PORT"] ?? "")
      shared[url] = overrides[url] ?? "http://127.0.0.1:\(port)"
    }
    var environments: [String: [String: String]] = [:]
    var all: [String: KithProcess] = [:]
    for name in names {
      var environment = shared
      if let service = ServiceName(rawValue: name) { environment["PORT"] = shared["\(service.variablePrefix)_PORT"] }
      environment.merge(keys(name)) { $1 }
      environments[name] = environment
      all[name] = try .launch("kith-\(name)", environment, in: testDatabase)
    }
    (self.environments, self.all, self.testDatabase) = (environments, all, testDatabase)
  }

  package var gateway: Browser { all["gateway"]?.gateway ?? Browser("") }

  /// Waits until all of them are ready.
  package func ready() async throws {
    for process in all.values { try await process.healthy("/health/ready") }
    try await all["gateway"]?.healthy()
  }

  /// Starts a process that has ended again, or another replica of it.
  ///
  /// - Parameter port: of its own; nil for the port that it had.
  package func restart(_ name: String, onPort port: String? = nil) throws -> KithProcess {
    var environment = environments[name] ?? [:]
    if let port { environment["PORT"] = port }
    return try .launch("kith-\(name)", environment, in: testDatabase)
  }
}
