import Auth
import Credits
import Foundation
import Gateway
import Groups
import Invites
import Lists
import Logging
import ServiceLifecycle
import Web
import Wire

/// All services in one process. Each listens on a loopback port of its own, so nothing differs from separate processes.
func buildKith(_ surroundings: Surroundings) async throws -> Stack {
  let settings = try DevelopmentSecrets.complete(surroundings.settings)
  let neighbours = Neighbours(settings.overlaid(ownURLs(settings)))
  func within(_ name: String, _ values: [String: String]) -> Surroundings {
    Surroundings(
      settings.overlaid(values.merging(keyPresented(by: name, settings)) { $1 }), neighbours: neighbours,
      logger: Logger(label: name), now: surroundings.now)
  }
  // Only the gateway has a balancer before it that needs time to notice a stop.
  func loopback(_ service: ServiceName) -> Surroundings {
    let port = settings.nonempty("\(service.variable)_PORT") ?? String(service.defaultPort)
    let publicURL = settings.string(
      "PUBLIC_URL", default: "http://127.0.0.1:\(settings.string("PORT", default: "\(GatewayServer.defaultPort)"))")
    return within(
      service.rawValue, ["HOST": "127.0.0.1", "PORT": port, "DRAIN_SECONDS": "0", "PUBLIC_URL": publicURL])
  }
  // Asked before anything starts: a server that is called off while it accepts its first connection traps in its
  // library, where one clear line about the other's port is due.
  for service in ServiceName.built { try await requireFreePort(of: loopback(service).settings, service.defaultPort) }
  try await requireFreePort(of: settings, GatewayServer.defaultPort)
  return Stack(
    auth: try await buildAuth(loopback(.auth)), invites: try await buildInvites(loopback(.invites)),
    groups: try await buildGroups(loopback(.groups)), lists: try await buildLists(loopback(.lists)),
    credits: try await buildCredits(loopback(.credits)),
    gateway: try buildGateway(within("gateway", [:])), neighbours: neighbours)
}

/// Where the services of this process will be. Wherever the settings say that they are, something else may listen; of a
/// port that is yet to be chosen nothing is known, and nobody listens on port 0.
private func ownURLs(_ settings: Settings) -> [String: String] {
  let urls = ServiceName.built.map { service in
    let port = settings.nonempty("\(service.variable)_PORT") ?? String(service.defaultPort)
    return ("\(service.variable)_URL", "http://127.0.0.1:\(port)")
  }
  return Dictionary(urls) { $1 }
}

/// The key of `name` in `SERVICE_KEYS`, so that each service presents its own; else everyone presents `SERVICE_KEY`.
private func keyPresented(by name: String, _ settings: Settings) -> [String: String] {
  for entry in settings.list("SERVICE_KEYS") where entry.hasPrefix("\(name):") {
    return ["SERVICE_KEY": String(entry.dropFirst(name.utf8.count + 1))]
  }
  return [:]
}

/// The services of one process, started together and stopped from the outside in: gateway first.
struct Stack: Service {
  let auth: Server
  let invites: Server
  let groups: Server
  let lists: Server
  let credits: Server
  let gateway: GatewayServer
  let neighbours: Neighbours

  func run() async throws {
    let introductions = Introductions(
      servers: [
        .auth: auth.port, .invites: invites.port, .groups: groups.port, .lists: lists.port, .credits: credits.port,
      ], neighbours: neighbours)
    var quiet = Logger(label: "kith")
    quiet.logLevel = .warning
    let services: [any Service] = [introductions, auth, invites, groups, lists, credits, gateway]
    try await ServiceGroup(
      configuration: .init(
        services: services.map {
          .init(
            service: $0, successTerminationBehavior: .ignore, failureTerminationBehavior: .gracefullyShutdownGroup)
        }, logger: quiet)
    ).run()
  }
}

/// Tells the services each other's ports, which may be any free ones.
private struct Introductions: Service {
  let servers: [ServiceName: Listening]
  let neighbours: Neighbours

  func run() async throws {
    for (service, listening) in servers {
      do {
        let port = try await cancelWhenGracefulShutdown { try await listening.number }
        neighbours.moved(service, to: "http://127.0.0.1:\(port)")
      } catch { return }
    }
  }
}
