import Foundation
import Wire

/// What a client asks for with `phx_join`.
struct JoinRequest: Sendable {
  /// The channel as the client names it, with `realtime:` or without.
  let name: String
  let joinRef: String?
  let token: String?
  let hasAcknowledgements: Bool
  let receivesOwn: Bool
  let isPrivate: Bool
  /// nil when the client has none of its own.
  let presenceKey: String?
  let hasPresence: Bool
  let since: Int?
  /// False for a `since` that is no number of an event.
  let isSinceValid: Bool
  let epoch: String?
  let changes: [JSONValue]

  static let changesMax = 100

  init(_ message: PhoenixMessage) {
    name = message.topic
    joinRef = message.ref ?? message.joinRef
    token = message.payload["access_token"]?.text.flatMap { $0.isEmpty ? nil : $0 }
    let config = message.payload["config"] ?? .null
    hasAcknowledgements = config["broadcast"]?["ack"]?.flag ?? false
    receivesOwn = config["broadcast"]?["self"]?.flag ?? false
    isPrivate = config["private"]?.flag ?? false
    presenceKey = config["presence"]?["key"]?.text.flatMap { $0.isEmpty ? nil : $0 }
    hasPresence = config["presence"]?["enabled"]?.flag ?? false
    let place = config["since"] ?? .null
    since = place.place
    isSinceValid = place == .null || since != nil
    epoch = config["epoch"]?.text
    if case .array(let entries)? = config["postgres_changes"] { changes = entries } else { changes = [] }
  }

  /// The name without `realtime:`.
  var channel: Substring { name.hasPrefix("realtime:") ? name.dropFirst("realtime:".count) : name[...] }

  /// `response.postgres_changes`, which must be there, in the order and with the members that the client has sent.
  var echo: String { "[" + changes.map { ChangeBinding.identity(of: $0).echo }.joined(separator: ",") + "]" }
}

/// Why a join is refused, with the texts of the servers that the clients know.
struct JoinRefusal: Error, Sendable {
  let reason: String
  let metric: EventMetrics.Refusal
  /// Whether trying again is pointless.
  let isFinal: Bool

  init(_ reason: String, _ metric: EventMetrics.Refusal, isFinal: Bool = true) {
    (self.reason, self.metric, self.isFinal) = (reason, metric, isFinal)
  }

  static let tooManyChannels = JoinRefusal("ChannelRateLimitReached: Too many channels", .channels)
  static let tooManyJoins = JoinRefusal(
    "ClientJoinRateLimitReached: Too many joins per second", .messages, isFinal: false)
  static let tooManySockets = JoinRefusal("ConnectionRateLimitReached: Too many connected users", .sockets)
  static let noName = JoinRefusal("TopicNameRequired: You must provide a topic name", .name)
  static let noReplay = JoinRefusal(
    "UnableToReplayMessages: Replay is not allowed for public channels", .name)
  static let restarting = JoinRefusal(
    "RealtimeRestarting: Realtime is restarting, please standby", .draining, isFinal: false)
  static let unavailable = JoinRefusal(
    "UnableToSubscribe: This part of the service is not available at the moment", .unavailable, isFinal: false)
  static let otherUser = JoinRefusal("InvalidJWTToken: A socket is one user's", .token)
  static let invalidSince = JoinRefusal("ConfigurationError: since must be 0 or the seq of an event", .malformed)
  static let tooManyChanges = JoinRefusal("ConfigurationError: Too many postgres_changes", .name)

  static func unauthorized(_ channel: some StringProtocol) -> JoinRefusal {
    JoinRefusal(
      "Unauthorized: You do not have permissions to read from this Channel topic: \(channel)", .rights)
  }

  static func token(_ rejected: CredentialRejected) -> JoinRefusal {
    JoinRefusal("InvalidJWTToken: \(rejected.message)", .token)
  }
}

extension JSONValue {
  /// A number of an event, which clients also send as text. nil for anything else.
  fileprivate var place: Int? {
    let number: Int? =
      switch self {
      case .integer(let value): value
      case .number(let value): Int(exactly: value)
      case .string(let text): Int(text)
      default: nil
      }
    return number.flatMap { $0 >= 0 ? $0 : nil }
  }
}
