import StrictHTTP
import Web

/// Live channels, and devices and preferences for push notifications.
extension Route {
  static let events: [Route] = channels + devices + notifications

  /// The WebSocket, server-sent events, and broadcasts by HTTP.
  private static let channels: [Route] = [
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

  private static let devices: [Route] = [
    .init(.GET, "/api/devices", to: .events, bearer: .required),
    .init(.POST, "/api/devices/register", to: .events, bearer: .required),
    .init(.DELETE, "/api/devices/unregister", to: .events, bearer: .required),
    .init(.POST, "/api/v1/devices", to: .events, bearer: .required),
    .init(.DELETE, "/api/v1/devices", to: .events, bearer: .required),
    .init(.DELETE, "/api/v1/devices/{device}", to: .events, bearer: .required),
  ]

  private static let notifications: [Route] = [
    .init(.GET, "/api/v1/notification_preference", to: .events, bearer: .required),
    .init(.PATCH, "/api/v1/notification_preference", to: .events, bearer: .required),
    .init(.PUT, "/api/groups/{group}/mute", to: .events, bearer: .required),
    .init(.DELETE, "/api/groups/{group}/mute", to: .events, bearer: .required),
    .init(.POST, "/api/v1/analytics/app_opened", to: .events, bearer: .required),
  ]
}
