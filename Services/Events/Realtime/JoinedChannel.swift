import Foundation
import NIOCore
import Wire

/// A channel that a socket has joined, or is joining. Lives on the event loop of its socket.
final class JoinedChannel {
  enum Phase {
    /// Rights and position are being asked for.
    case joining
    /// Reads the log until it has reached what is appended now.
    case catchingUp
    case live
  }

  unowned let socket: Socket
  /// As the client has named it.
  let name: String
  let joinRef: String?
  /// nil for a channel that is no topic: changes of rows of all topics come there.
  let topic: TopicName?
  let options: Options
  /// Made when it is needed, if the client has none of its own.
  private(set) lazy var presenceKey = givenPresenceKey ?? UUID().uuidString.lowercased()
  private let givenPresenceKey: String?
  let bindings: [ChangeBinding]
  var credential: Credential?
  /// The token of `credential`, to recognize it.
  var tokenHash: Int
  var phase = Phase.joining
  /// The last event of the topic that was sent.
  var position: LogPosition
  /// The last event that was not sent because of the phase.
  var missed = 0
  /// Reads the log, or waits for a moment because it could not.
  var isReading = false
  /// Changes of rights while they were being asked for.
  var accessChanges: [AccessChange] = []
  /// The topics that it is not named after, of which it gets the changes of rows.
  var topics: Set<String> = []
  /// The last event of these that was sent, as an event may have several of the topics.
  var lastPosition = 0
  /// The log was replaced by another one while the channel was being joined.
  var hasMissedReplacement = false
  /// What was not sent because the client reads too slowly.
  var hasMissedRows = false
  var hasMissedPresence = false
  var presence: TrackedPresence?

  struct Options: OptionSet {
    let rawValue: UInt8
    static let acknowledgements = Options(rawValue: 1)
    static let receivesOwn = Options(rawValue: 2)
    static let presence = Options(rawValue: 4)
  }

  init(_ request: JoinRequest, topic: TopicName?, bindings: [ChangeBinding], on socket: Socket) {
    self.socket = socket
    name = request.name
    joinRef = request.joinRef
    self.topic = topic
    self.bindings = bindings
    givenPresenceKey = request.presenceKey
    var options = Options()
    if request.hasAcknowledgements { options.insert(.acknowledgements) }
    if request.receivesOwn { options.insert(.receivesOwn) }
    if request.hasPresence { options.insert(.presence) }
    self.options = options
    tokenHash = request.token?.hashValue ?? 0
    position = LogPosition(seq: request.since ?? 0, epoch: request.epoch ?? "")
  }

  /// The name without `realtime:`.
  var shortName: String { String(name.hasPrefix("realtime:") ? name.dropFirst("realtime:".count) : name[...]) }
}
