import Auth
import ServiceLifecycle
import Web

/// One of several auth processes over one database, started and stopped by itself.
package struct Replica: Sendable {
  package let url: String
  private let group: ServiceGroup
  private let running: Task<Void, any Error>

  /// Returns once it listens.
  package init(of surroundings: Surroundings) async throws {
    let server = try await buildAuth(surroundings.presenting("auth"))
    let group = ServiceGroup(services: [server], logger: quiet)
    self.group = group
    running = Task { try await group.run() }
    url = "http://127.0.0.1:\(try await server.port.number)"
  }

  /// As SIGTERM does; returns when it has ended.
  package func stop() async throws {
    await group.triggerGracefulShutdown()
    try await running.value
  }
}

extension Surroundings {
  /// Those of a process that presents the service key of `name`.
  package func presenting(_ name: String) -> Surroundings {
    with(settings.overlaid(["SERVICE_KEY": TestStack.keys[name] ?? ""]))
  }
}
