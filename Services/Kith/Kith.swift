import Adventures
import Auth
import Credits
import Events
import Foundation
import Gateway
import Groups
import Invites
import Lists
import Logging
import ServiceLifecycle
import Timepoints
import Tokens
import Web
import Wire

/// Builds all services in one process. Each listens on a loopback port of its own, so they work as in separate
/// processes. The gateway sends them the requests of clients without a socket.
func buildKith(_ dependencies: Dependencies) async throws -> ServiceStack {
  let settings = try DevelopmentSecrets.complete(dependencies.settings)
  let serviceAddresses = ServiceAddresses(settings.overlaid(ownURLs(settings)))
  let endedSessions = EndedSessionList()
  func makeDependencies(for name: String, _ values: [String: String]) -> Dependencies {
    Dependencies(
      settings.overlaid(values.merging(keyPresented(by: name, settings)) { $1 }), serviceAddresses: serviceAddresses,
      logger: Logger(label: name), endedSessions: endedSessions, now: dependencies.now)
  }
  // Services deliver events where an address is set; here it is the one of this process, unless it is set to none.
  let eventsURL = settings.string("EVENTS_URL") ?? ownURLs(settings)["EVENTS_URL"] ?? ""
  // Only the gateway is behind a load balancer, which needs time to notice a stop: the others do not wait.
  func loopback(_ service: ServiceName) -> Dependencies {
    let port = settings.nonempty("\(service.variablePrefix)_PORT") ?? String(service.defaultPort)
    let publicURL = settings.string(
      "PUBLIC_URL", default: "http://127.0.0.1:\(settings.string("PORT", default: "\(GatewayServer.defaultPort)"))")
    return makeDependencies(
      for: service.rawValue,
      [
        "HOST": "127.0.0.1", "PORT": port, "SOCKET_DIR": "", "DRAIN_SECONDS": "0", "PUBLIC_URL": publicURL,
        "EVENTS_URL": eventsURL,
      ])
  }
  // Checked before anything starts: a server that is cancelled while it accepts its first connection traps in its
  // library, and the error about the port in use would be lost.
  for service in ServiceName.bundled { try await requireFreePort(of: loopback(service).settings, service.defaultPort) }
  try await requireFreePort(of: settings, GatewayServer.defaultPort)
  async let auth = buildAuth(loopback(.auth))
  async let invites = buildInvites(loopback(.invites))
  async let groups = buildGroups(loopback(.groups))
  async let lists = buildLists(loopback(.lists))
  async let credits = buildCredits(loopback(.credits))
  async let events = buildEvents(loopback(.events))
  async let adventures = buildAdventures(loopback(.adventures))
  async let timepoints = buildTimepoints(loopback(.timepoints))
  // The first stops last: the others deliver to it what their last requests have recorded.
  let servers = try await [events, auth, invites, groups, lists, credits, adventures, timepoints]
  return ServiceStack(
    servers: servers,
    // The services are ready when it starts, and stop after it, so probes would only tell of a database that is down.
    gateway: try buildGateway(
      makeDependencies(for: "gateway", [:]), healthProbe: HealthProbe(restInterval: .seconds(60)),
      local: Dictionary(servers.map { ($0.service, $0.local) }) { $1 }),
    serviceAddresses: serviceAddresses)
}

/// The URLs of the services in this process. They replace URLs in the settings, where another program may listen. A
/// port that is not chosen yet is 0, on which nothing listens.
private func ownURLs(_ settings: Settings) -> [String: String] {
  let urls = ServiceName.bundled.map { service in
    let port = settings.nonempty("\(service.variablePrefix)_PORT") ?? String(service.defaultPort)
    return ("\(service.variablePrefix)_URL", "http://127.0.0.1:\(port)")
  }
  return Dictionary(urls) { $1 }
}

/// The key of `name` in `SERVICE_KEYS`, so that each service presents its own; without one, every service presents
/// `SERVICE_KEY`.
private func keyPresented(by name: String, _ settings: Settings) -> [String: String] {
  for entry in settings.list("SERVICE_KEYS") where entry.hasPrefix("\(name):") {
    return ["SERVICE_KEY": String(entry.dropFirst(name.utf8.count + 1))]
  }
  return [:]
}

/// Runs the services of one process. They start together, then the gateway, and stop in order, the gateway first.
struct ServiceStack: Service {
  let servers: [Server]
  let gateway: GatewayServer
  let serviceAddresses: ServiceAddresses

  func run() async throws {
    let gatewayStart = GatewayStart(gateway: gateway, servers: servers, serviceAddresses: serviceAddresses)
    let services: [any Service] = servers + [gatewayStart]
    try await ServiceGroup(
      configuration: .init(
        services: services.map { .init(ofType: $0, onSuccess: .ignore, onFailure: .gracefullyShutdownGroup) },
        logger: Logger(label: "kith").warningsOnly)
    ).run()
  }
}

/// Runs the gateway once all services listen, with the addresses at which they do.
private struct GatewayStart: Service {
  let gateway: GatewayServer
  let servers: [Server]
  let serviceAddresses: ServiceAddresses

  func run() async throws {
    for server in servers {
      do {
        let port = try await cancelWhenGracefulShutdown { try await server.port.number }
        serviceAddresses.set(server.service, to: "http://127.0.0.1:\(port)")
      } catch {
        // The stack stops, or the service did not start, which its own error says.
        return
      }
    }
    try await gateway.run()
  }
}
