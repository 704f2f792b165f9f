import Database
import Foundation
import HTTPTypes
import Hummingbird
import Web
import Wire

/// The functions under `/rest/v1/rpc` by which apps look whether the server is well. By GET and by POST.
struct HealthRPCRoutes: Sendable {
  let store: HealthStore
  /// Whether changes reach the channels.
  let hasEvents: Bool
  let stage: String
  let version: String
  let adminKey: String
  let now: @Sendable () -> Date

  func add(to routes: Router<Context>) {
    let signedInRoutes = routes.group(context: SignedIn.self)
    for method in [HTTPRequest.Method.get, .post] {
      signedInRoutes.on("/rest/v1/rpc/health_check", method: method, use: health)
      signedInRoutes.on("/rest/v1/rpc/health_check_detailed", method: method, use: detailedHealth)
      signedInRoutes.on("/rest/v1/rpc/get_system_metrics", method: method, use: metrics)
    }
  }

  @Sendable private func health(_ request: Request, _ context: SignedIn) async throws -> Response {
    let error = await store.problem()
    return .json(
      HealthBody(
        status: error == nil ? "healthy" : "unhealthy", timestamp: now(), services: services(error), version: version,
        error: error))
  }

  @Sendable private func detailedHealth(_ request: Request, _ context: SignedIn) async throws -> Response {
    do {
      let counts = try await store.counts(of: context.user)
      return .json(detailed(counts, nil))
    } catch let failure as DatabaseFailure where failure.isTransient {
      return .json(detailed([:], HealthStore.unavailable))
    }
  }

  private func detailed(_ counts: [String: Int], _ error: String?) -> DetailedHealthBody {
    DetailedHealthBody(
      status: error == nil ? "healthy" : "unhealthy", timestamp: now(), services: services(error), version: version,
      error: error, auth: "healthy", storage: "healthy", environment: stage, table_counts: counts, tableCounts: counts,
      errors: error.map { [$0] } ?? [])
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

  private func services(_ error: String?) -> ServicesBody {
    ServicesBody(database: error == nil ? "healthy" : "unhealthy", realtime: hasEvents ? "healthy" : "unavailable")
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
