import Clients
import Foundation
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Web
import Wire

/// The gateway: where everything meets.
package func buildGateway(
  _ surroundings: Surroundings, routes: [Route] = publicRoutes, patience: Patience = Patience(),
  probing: Probing = Probing(), upstreamTrust: NIOSSLTrustRoots = .default
) throws -> GatewayServer {
  let settings = surroundings.settings
  let lifecycle = Lifecycle()
  let verification = try Verification(in: surroundings)
  let keys = try ServiceKeys(settings)
  let users = UsersClient(in: surroundings)
  let serviceKey = try settings.secret("SERVICE_KEY")
  let quotas = try Quotas(settings)
  let redis = try RedisURL(settings)
  let certificate = try Certificate(settings)
  let upstreams = Upstreams(surroundings.neighbours, logger: surroundings.logger, probing: probing)
  var upstreamTLS = TLSConfiguration.makeClientConfiguration()
  upstreamTLS.trustRoots = upstreamTrust
  let upstreamContext = try NIOSSLContext(configuration: upstreamTLS)
  surroundings.registry.addProcess()
  let localLimits = MemoryLimits()
  let outage = RedisOutage()
  let tracer = try surroundings.tracer(ofGatewayWithTLS: certificate != nil)
  let loops = Loops()
  let own = OwnAnswers(
    health: GatewayHealth(
      upstreams, surroundings.neighbours, stage: try settings.stage(), lifecycle: lifecycle, now: surroundings.now),
    openAPI: MergedOpenAPI(
      surroundings.neighbours, own: try OpenAPI(yaml: PackageResources.openapi_yaml), routes: routes,
      publicURL: settings.string("PUBLIC_URL", default: "/")),
    metrics: {
      Metrics(
        series: await loops.gather { $0.metrics.snapshot }.flatMap { $0 },
        connections: await loops.gather { $0.clientCount }.reduce(0, +),
        bufferedBytes: await loops.gather { $0.bufferedBytes }.reduce(0, +), endpoints: upstreams.all,
        limitedKeys: localLimits.count, registry: surroundings.registry)
    },
    isReady: { verification.ended.isKnown && !lifecycle.isDraining },
    showsPages: try settings.bool("DEBUG", default: try settings.stage() == .development))
  let state = try GatewayState(
    table: RouteTable(routes), verification: verification, lifecycle: lifecycle, own: own, settings: settings,
    isTLS: certificate != nil, patience: patience, logger: surroundings.logger)
  return GatewayServer(
    state: state, certificate: certificate, upstreams: upstreams, loops: loops, exporter: tracer?.exporter,
    host: settings.string("HOST", default: "127.0.0.1"),
    wantedPort: try settings.int("PORT", default: GatewayServer.defaultPort, in: 0...65535),
    drainFor: .seconds(
      try settings.int("DRAIN_SECONDS", default: try settings.stage() == .production ? 3 : 0, in: 0...60)),
    logger: surroundings.logger,
    makeLoop: { loop in
      LoopState(
        on: loop, bearer: Bearer(verification, keys: keys, users: users, now: surroundings.now),
        limiter: Limiter(
          quotas: quotas, local: localLimits, redis: redis, on: loop, logger: surroundings.logger,
          now: { Int64(NIODeadline.now().uptimeNanoseconds) }, outage: outage, patience: patience.redis),
        metrics: LoopMetrics(), tracer: tracer,
        pool: { service in
          ServicePool(service, upstreams) { endpoint in
            EndpointPool(endpoint, key: serviceKey, tls: endpoint.url.isTLS ? upstreamContext : nil, on: loop)
          }
        })
    })
}
