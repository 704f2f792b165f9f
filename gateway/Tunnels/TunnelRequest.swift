import NIOCore

/// What is kept of the request that opened a WebSocket, for its line in the access log.
struct TunnelRequest {
  let route: Route
  let requestID: [UInt8]
  /// nil when the request was not traced.
  let traceID: String?
  /// The address that the WebSocket counts for.
  let address: IPAddress
  let startedAt: NIODeadline
}
