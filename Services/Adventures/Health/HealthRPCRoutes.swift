import Database
import Foundation
import HTTPTypes
import Hummingbird
import Web
import Wire

/// The functions under `/rest/v1/rpc` by which apps look whether the server is well. By GET and by POST.
struct HealthRPCRoutes: Sendable {
  let store: HealthStore
  let probes: ServiceProbes
  /// Whether changes reach the channels.
  let hasEvents: Bool
  let stage: String
  let version: String
  let adminKey: String
  let now: @Sendable () -> Date

  func add(to routes: HTTPRoutes) {
    let signedInRoutes = routes.group(context: SignedIn.self)
    for method in [HTTPRequest.Method.get, .post] {
      signedInRoutes.on("/rest/v1/rpc/health_check", method: method, use: health)
      signedInRoutes.on("/rest/v1/rpc/health_check_detailed", method: method, use: detailedHealth)
      signedInRoutes.on("/rest/v1/rpc/get_system_metrics", method: method, use: metrics)
    }
  }

  @Sendable private func health(_ request: Request, _ context: SignedIn) async throws -> Response {
    let state = await serverState(databaseError: await store.problem())
    return .json(
      HealthBody(
        status: state.status, timestamp: now(), services: state.services, version: version, error: state.errors.first))
  }

  @Sendable private func detailedHealth(_ request: Request, _ context: SignedIn) async throws -> Response {
    do {
      let counts = try await store.counts(of: context.user)
      return .json(detailed(counts, await serverState(databaseError: nil)))
    } catch let failure as DatabaseFailure where failure.isTransient {
      return .json(detailed([:], await serverState(databaseError: HealthStore.unavailable)))
    }
  }

  private func detailed(_ counts: [String: Int], _ state: ServerState) -> DetailedHealthBody {
    DetailedHealthBody(
      status: state.status, timestamp: now(), services: state.services, version: version, error: state.errors.first,
      auth: state.word(for: .auth), storage: state.word(for: .groups), environment: stage, table_counts: counts,
      tableCounts: counts, errors: state.errors)
  }

  private func serverState(databaseError: String?) async -> ServerState {
    ServerState(databaseError: databaseError, unready: await probes.unready(), hasEvents: hasEvents)
  }

  /// What the whole server uses is for its operator only.
  @Sendable private func metrics(_ request: Request, _ context: SignedIn) async throws -> Response {
    var metrics = SystemMetrics()
    do {
      try requireAdmin(request, adminKey)
      metrics = try await store.metrics()
    } catch let failure as Failure where failure.kind == .forbidden {}
    return .json(
      MetricsBody(
        databaseSize: metrics.databaseSize, activeConnections: metrics.activeConnections,
        maxConnections: metrics.connectionsMax, timestamp: now()))
  }

  /// What the functions say of the database and of the other services.
  private struct ServerState {
    let databaseError: String?
    let unready: Set<ServiceName>
    let hasEvents: Bool

    /// Without the database nothing works; without one of the other services most of it does.
    var status: String { databaseError != nil ? "unhealthy" : unready.isEmpty ? "healthy" : "degraded" }

    var services: ServicesBody {
      ServicesBody(
        database: databaseError == nil ? "healthy" : "unhealthy",
        realtime: hasEvents ? word(for: .events) : "unavailable")
    }

    var errors: [String] {
      (databaseError.map { [$0] } ?? [])
        + unready.map(\.rawValue).sorted().map { "The service \($0) is not ready." }
    }

    func word(for service: ServiceName) -> String { unready.contains(service) ? "unhealthy" : "healthy" }
  }

  private struct ServicesBody: Encodable {
    let database: String
    let realtime: String
  }

  private struct HealthBody: Encodable {
    let status: String
    let timestamp: Date
    let services: ServicesBody
    let version: String
    @NullCodable var error: String?
  }

  private struct DetailedHealthBody: Encodable {
    let status: String
    let timestamp: Date
    let services: ServicesBody
    let version: String
    @NullCodable var error: String?
    let auth: String
    let storage: String
    let environment: String
    let table_counts: [String: Int]
    let tableCounts: [String: Int]
    let errors: [String]
  }

  private struct MetricsBody: Encodable {
    @NullCodable var databaseSize: String?
    @NullCodable var activeConnections: Int?
    @NullCodable var maxConnections: Int?
    let timestamp: Date
  }
}
