import Auth
import ServiceLifecycle
import Web

/// One of several auth servers with the same database, started and stopped separately.
package struct AuthReplica: Sendable {
  package let url: String
  private let group: ServiceGroup
  private let running: Task<Void, any Error>

  /// Starts the server and waits until it listens.
  package init(of dependencies: Dependencies) async throws {
    let server = try await buildAuth(dependencies.presenting("auth"))
    let group = ServiceGroup(services: [server], logger: quiet)
    self.group = group
    running = Task { try await group.run() }
    url = "http://127.0.0.1:\(try await server.port.number)"
  }

  /// Shuts down gracefully, as on SIGTERM, and waits for the end.
  package func stop() async throws {
    await group.triggerGracefulShutdown()
    try await running.value
  }
}

extension Dependencies {
  /// A copy for a process that sends the service key of `name`.
  package func presenting(_ name: String) -> Dependencies {
    with(settings.overlaid(["SERVICE_KEY": TestStack.keys[name] ?? ""]))
  }
}
