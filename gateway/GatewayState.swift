import Clients
import Foundation
import Logging
import NIOCore
import Tokens
import Web
import Wire

/// What all event loops of a gateway share; nothing in it changes but what guards itself.
final class GatewayState: Sendable {
  let table: RouteTable
  let verification: Verification
  let lifecycle: Lifecycle
  let connections: Connections
  let bodies = UnfinishedBodies()
  let trusted: TrustedProxies
  let cors: CrossOrigin?
  let security: SecurityLines
  let showsTiming: Bool
  /// Whether whoever calls from this machine may see how things are inside.
  let trustsThisMachine: Bool
  let patience: Patience
  let isTLS: Bool
  private let own: OwnAnswers
  private let logger: Logger

  init(
    table: RouteTable, verification: Verification, lifecycle: Lifecycle, own: OwnAnswers, settings: Settings,
    isTLS: Bool, patience: Patience, logger: Logger
  ) throws {
    self.table = table
    self.verification = verification
    self.lifecycle = lifecycle
    self.own = own
    self.logger = logger
    self.isTLS = isTLS
    self.patience = patience
    trusted = try TrustedProxies(settings)
    connections = try Connections(settings, trusted: trusted)
    cors = try CrossOrigin(settings)
    security = SecurityLines(isTLS: isTLS)
    trustsThisMachine = try settings.stage() == .development
    showsTiming = try settings.bool("SERVER_TIMING", default: false)
  }

  /// What is not for this caller is not there.
  func answer(_ route: OwnRoute, toInsider isInsider: Bool) async -> LocalAnswer? {
    await own.answer(route, toInsider: isInsider)
  }

  /// What auth said in the answer that is just passing through.
  func sessionsEnded(_ header: String) {
    for entry in header.split(separator: ",") {
      let parts = entry.split(separator: "=")
      guard parts.count == 2, let session = SessionID(String(parts[0])), let until = Double(parts[1]) else { continue }
      verification.ended.add(session, until: Date(timeIntervalSince1970: until))
    }
  }

  func log(_ exchange: Exchange, status: Int, requestID: [UInt8], took: TimeAmount) {
    // What balancers ask for every second would bury the rest.
    let level: Logger.Level = exchange.isOwn ? .debug : .info
    guard logger.logLevel <= level else { return }
    var metadata: Logger.Metadata = [
      "method": "\(exchange.method.rawValue)", "route": "\(exchange.route?.path ?? "-")",
      "status": .stringConvertible(status), "request_id": "\(String(decoding: requestID, as: UTF8.self))",
      "duration_ms": .stringConvertible(Double(took.nanoseconds / 1000) / 1000),
    ]
    if let spans = exchange.spans { metadata["trace_id"] = "\(spans.server.context.traceID)" }
    logger.log(level: level, "request", metadata: metadata)
  }
}
