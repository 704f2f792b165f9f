import Clients
import Foundation
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Web
import Wire

/// Wires the gateway from its dependencies; the only place where its parts are connected.
///
/// - Parameter local: the services in the same process.
/// - Throws: ``StartFailure`` for settings that are missing or wrong.
package func buildGateway(
  _ dependencies: Dependencies, routes: [Route] = publicRoutes, timeouts: Timeouts = Timeouts(),
  healthProbe: HealthProbe = HealthProbe(), upstreamTrust: NIOSSLTrustRoots = .default,
  local: [ServiceName: LocalListener] = [:]
) throws -> GatewayServer {
  let settings = dependencies.settings
  let lifecycle = Lifecycle()
  let verification = try TokenVerification(in: dependencies)
  let keys = try ServiceKeys(settings)
  let users = UsersClient(in: dependencies)
  let serviceKey = try settings.secret("SERVICE_KEY")
  let quotas = try LimitQuotas(settings)
  let redis = try RedisURL(settings)
  let certificate = try Certificate(settings)
  let upstreams = Upstreams(dependencies.serviceAddresses, logger: dependencies.logger, healthProbe: healthProbe)
  let upstreamTLS = UpstreamTLS(trustRoots: upstreamTrust)
  if upstreams.all.contains(where: \.url.isTLS) { _ = try upstreamTLS.context() }
  dependencies.registry.addProcessMetrics()
  dependencies.registry.addLogMetrics()
  let localLimits = MemoryLimits()
  let outageLog = RedisOutageLog()
  let tracer = try dependencies.tracer(ofGatewayWithTLS: certificate != nil)
  let loops = EventLoops()
  let drainSeconds = try settings.int(
    "DRAIN_SECONDS", default: try settings.stage() == .production ? 3 : 0, in: 0...60)
  let localRoutes = LocalRoutes(
    health: GatewayHealth(
      upstreams, dependencies.serviceAddresses, stage: try settings.stage(), lifecycle: lifecycle,
      now: dependencies.now),
    openAPI: MergedOpenAPI(
      dependencies.serviceAddresses, gateway: OpenAPI(yaml: PackageResources.openapi_yaml), routes: routes,
      publicURL: settings.string("PUBLIC_URL", default: "/")),
    metrics: {
      GatewayMetrics(
        series: await loops.gather { $0.metrics.snapshot }.flatMap { $0 },
        tunnels: await loops.gather { $0.metrics.tunnels }.reduce(TunnelMetrics(), +),
        connections: await loops.gather { $0.clientCount }.reduce(0, +),
        bufferedBytes: await loops.gather { $0.bufferedBytes }.reduce(0, +), endpoints: upstreams.all,
        limitedKeys: localLimits.count, isRedisAway: outageLog.isAway, registry: dependencies.registry)
    },
    isReady: { verification.ended.isLoaded && !lifecycle.isDraining },
    showsPages: try settings.bool("DEBUG", default: try settings.stage() == .development))
  let state = try GatewayState(
    table: RouteTable(routes), verification: verification, lifecycle: lifecycle, localRoutes: localRoutes,
    settings: settings, isTLS: certificate != nil, timeouts: timeouts,
    // Where nobody is given time to notice the stop, the clients are not either.
    tunnelDrain: drainSeconds > 0 ? timeouts.tunnel.drain : .zero, logger: dependencies.logger)
  let makeLoop: @Sendable (any EventLoop) -> EventLoopState = { loop in
    EventLoopState(
      on: loop, authenticator: Authenticator(verification, keys: keys, users: users, now: dependencies.now),
      limiter: Limiter(
        quotas: quotas, local: localLimits, redis: redis, on: loop, logger: dependencies.logger,
        now: { Nanoseconds(NIODeadline.now().uptimeNanoseconds) }, outageLog: outageLog, timeout: timeouts.redis),
      metrics: EventLoopMetrics(), tracer: tracer,
      pool: { service in
        ServicePool(service, upstreams) {
          EndpointPool($0, key: serviceKey, tls: upstreamTLS, on: loop, local: local[service])
        }
      })
  }
  return GatewayServer(
    state: state, certificate: certificate, upstreams: upstreams, loops: loops, exporter: tracer?.exporter,
    host: settings.string("HOST", default: "127.0.0.1"),
    configuredPort: try settings.int("PORT", default: GatewayServer.defaultPort, in: 0...65535),
    drainDelay: .seconds(drainSeconds), logger: dependencies.logger, makeLoop: makeLoop)
}
