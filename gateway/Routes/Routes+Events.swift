import StrictHTTP
import Web

/// Live channels: the WebSocket, server-sent events, and broadcasts by HTTP.
extension Route {
  static let events: [Route] = [
    // Supabase's clients send their project's key as the bearer token. The service authenticates each join.
    .init(
      .GET, "/realtime/v1/websocket", to: .events, bearer: .ifValid, limit: .socket, forwardsBearer: true,
      isWebSocket: true),
    // The service sends a comment every 15 seconds, so a stream that pauses for a minute is broken. It ends a stream
    // when the token expires.
    .init(
      .GET, "/realtime/v1/events", to: .events, bearer: .required, limit: .socket, idleSeconds: 60,
      forwardsBearer: true),
    .init(.POST, "/realtime/v1/api/broadcast", to: .events, bearer: .required, bodyBytesMax: 256 * 1024),
    .init(.POST, "/realtime/v1/api/broadcast/{topic}/events/{event}", to: .events, bearer: .required),
  ]
}
