import Clients
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import Tokens
import Web
import Wire

/// What all event loops of a gateway share; nothing in it changes but what guards itself.
final class GatewayState: Sendable {
  let table: RouteTable
  let serviceKey: String
  let verification: Verification
  let lifecycle: Lifecycle
  private let health: GatewayHealth
  private let logger: Logger
  private let name: Data

  init(
    table: RouteTable, serviceKey: String, verification: Verification, health: GatewayHealth, lifecycle: Lifecycle,
    logger: Logger
  ) throws {
    self.table = table
    self.serviceKey = serviceKey
    self.verification = verification
    self.health = health
    self.lifecycle = lifecycle
    self.logger = logger
    self.name = try JSON.encode([
      "name": "kith", "version": Kith.version, "health": "/health", "docs": "/docs", "status": "ok",
      "message": "Kith is running",
    ])
  }

  /// The gateway's own routes.
  func local(_ head: HTTPRequestHead, _ path: Substring) -> LocalAnswer.Question? {
    guard head.method == .GET || head.method == .HEAD else { return nil }
    switch path {
    case "/health", "/health/": return { [health] in await health.answer() }
    case "/health/live": return { LocalAnswer(.ok, json: Data(#"{"status":"ok"}"#.utf8)) }
    case "/health/ready":
      return { [verification, lifecycle] in
        let ready = verification.ended.isKnown && !lifecycle.isDraining
        return LocalAnswer(
          ready ? .ok : .serviceUnavailable, json: Data(#"{"status":"\#(ready ? "ok" : "unavailable")"}"#.utf8))
      }
    case "/": return { [name] in LocalAnswer(.ok, json: name) }
    default: return nil
    }
  }

  /// What auth said in the answer that is just passing through.
  func sessionsEnded(_ header: String) {
    for entry in header.split(separator: ",") {
      let parts = entry.split(separator: "=")
      guard parts.count == 2, let session = SessionID(String(parts[0])), let until = Double(parts[1]) else { continue }
      verification.ended.add(session, until: Date(timeIntervalSince1970: until))
    }
  }

  func log(_ exchange: Exchange, status: Int) {
    // What balancers ask for every second would bury the rest.
    let level: Logger.Level = exchange.path.hasPrefix("/health") ? .debug : .info
    guard logger.logLevel <= level else { return }
    let microseconds = (NIODeadline.now() - exchange.startedAt).nanoseconds / 1000
    logger.log(
      level: level, "request",
      metadata: [
        "method": "\(exchange.method.rawValue)", "route": "\(exchange.route?.path ?? "-")",
        "status": .stringConvertible(status), "request_id": "\(exchange.trace.requestID)",
        "duration_ms": .stringConvertible(Double(microseconds) / 1000),
      ])
  }
}
