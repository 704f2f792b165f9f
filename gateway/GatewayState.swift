import Clients
import Foundation
import Logging
import NIOCore
import Tokens
import Web
import Wire

/// The state that all event loops of a gateway share. It is immutable but for members that synchronize themselves.
final class GatewayState: Sendable {
  let table: RouteTable
  let verification: TokenVerification
  let lifecycle: Lifecycle
  let connectionLimits: ConnectionLimits
  let socketLimits: SocketLimits
  let bodyBudget = RequestBodyBudget()
  let trustedProxies: TrustedProxies
  let cors: CORSPolicy?
  let securityHeaders: SecurityHeaders
  let showsTiming: Bool
  /// Whether callers from this machine may read internal state: metrics and the health of each service.
  let trustsLoopback: Bool
  let timeouts: Timeouts
  /// The time in which WebSockets are closed when the gateway stops.
  let tunnelDrain: TimeAmount
  let isTLS: Bool
  private let localRoutes: LocalRoutes
  private let accessLog: AccessLog

  init(
    table: RouteTable, verification: TokenVerification, lifecycle: Lifecycle, localRoutes: LocalRoutes,
    settings: Settings, isTLS: Bool, timeouts: Timeouts, tunnelDrain: TimeAmount, logger: Logger
  ) throws {
    self.table = table
    self.verification = verification
    self.lifecycle = lifecycle
    self.localRoutes = localRoutes
    accessLog = AccessLog(logger)
    self.isTLS = isTLS
    self.timeouts = timeouts
    self.tunnelDrain = tunnelDrain
    trustedProxies = try TrustedProxies(settings)
    connectionLimits = try ConnectionLimits(settings, trustedProxies: trustedProxies)
    socketLimits = try SocketLimits(settings, trustedProxies: trustedProxies)
    cors = try CORSPolicy(settings)
    securityHeaders = SecurityHeaders(isTLS: isTLS)
    let isDevelopment = try settings.stage() == .development
    trustsLoopback = isDevelopment
    // Elsewhere it would tell strangers more exactly than the network what took how long.
    showsTiming = try settings.bool("SERVER_TIMING", default: isDevelopment)
  }

  /// nil when this caller may not see the route.
  func response(to route: LocalRoute, isInternal: Bool) async -> LocalResponse? {
    await localRoutes.response(to: route, isInternal: isInternal)
  }

  /// Records the sessions that auth reports as ended.
  ///
  /// - Parameter header: the value of `X-Ended-Sessions` in a response of auth: `session=until`, separated by commas,
  ///   times in seconds since 1970. Malformed entries are ignored.
  func recordEndedSessions(_ header: String) {
    for entry in header.split(separator: ",") {
      let parts = entry.split(separator: "=")
      guard parts.count == 2, let session = SessionID(String(parts[0])), let until = Double(parts[1]) else { continue }
      verification.ended.add(session, until: Date(timeIntervalSince1970: until))
    }
  }

  func log(_ exchange: Exchange, status: Int, requestID: [UInt8], duration: TimeAmount) {
    // Load balancers probe the gateway's own routes every second; at `info` they would dominate the log.
    accessLog.log(
      isRoutine: exchange.isLocal,
      .init(
        exchange.method.rawValue, route: exchange.route?.path, status: status,
        requestID: String(decoding: requestID, as: UTF8.self), traceID: exchange.spans?.server.context.traceID,
        microseconds: Int(duration.nanoseconds / 1000)))
  }

  func log(_ tunnel: Tunnel, _ end: Tunnel.End, duration: TimeAmount) {
    let request = tunnel.request
    accessLog.log(
      isRoutine: false,
      .init(
        "GET", route: request.route.path, status: 101, requestID: String(decoding: request.requestID, as: UTF8.self),
        traceID: request.traceID, microseconds: Int(duration.nanoseconds / 1000),
        webSocket: .init(
          receivedBytes: tunnel.bytesFromClient, sentBytes: tunnel.bytesFromService, endedBy: end.rawValue)))
  }
}
