import NIOCore
import Web

/// The bounds of a socket.
struct SocketSettings: Sendable {
  let channelsMax: Int
  let messagesPerSecond: Int
  let messagesBurst: Int
  let pingInterval: TimeAmount
  /// Over which the sockets of a process that stops are closed, so that their clients do not all come back at once.
  let closeSeconds: Int

  static let frameBytesMax = 64 * 1024
  static let controlsPerSecond = 50
  static let controlsBurst = 200
  /// How long a client may leave unread what was sent.
  static let slowReaderLimit = TimeAmount.seconds(10)

  /// A socket is closed when nothing has arrived for two pings and a little.
  var silenceLimit: TimeAmount { .nanoseconds(pingInterval.nanoseconds * 5 / 2) }

  init(_ settings: Settings) throws {
    channelsMax = try settings.int("EVENTS_CHANNELS_PER_SOCKET", default: 100, in: 1...10_000)
    messagesPerSecond = try settings.int("EVENTS_MESSAGES_PER_SECOND", default: 10, in: 1...10_000)
    messagesBurst = messagesPerSecond * 3
    // The gateway closes a WebSocket on which the service is silent for a minute.
    pingInterval = .seconds(Int64(try settings.int("EVENTS_PING_SECONDS", default: 25, in: 1...50)))
    closeSeconds = try settings.int("EVENTS_CLOSE_SECONDS", default: 10, in: 0...300)
  }
}
