import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix

/// What is known of how an address does, and when that is enough to leave it out.
///
/// Where nobody listens is known at once, by a refused connection. Silence is not: a busy machine is slow, and whoever is
/// left out for that makes the others slow. So it takes several silences in a row to be left out, and several answers to
/// come back.
struct EndpointHealth: Sendable {
  enum Standing: Int, Sendable {
    case ready
    /// It answers, but asked not to be sent new requests: it is stopping, or its database is away.
    case unready
    /// Out: it takes connections and does not answer.
    case silent
    /// Out: it takes no connections.
    case unreachable

    var isOut: Bool { self == .silent || self == .unreachable }

    /// Who is asked first; those that take no connections always come last.
    func rank(inPanic isPanic: Bool) -> Int { isPanic && self == .silent ? Self.ready.rawValue : rawValue }
  }

  enum Event: Sendable, Equatable {
    /// An answer to a probe.
    case answered(isReady: Bool, isLate: Bool)
    /// A probe whose patience ran out.
    case silent
    /// A connection was refused or broke.
    case unreachable
    /// A connection was not made in time, as when a packet was lost, or a machine.
    case lateConnection
    case connected
  }

  private(set) var hasAnswered = false
  private(set) var hasBeenReady = false
  private(set) var isSlow = false
  private var isReady = true
  private var isSilent = false
  private var isUnreachable = false
  private var silences = 0
  private var answers = 0
  private var lateConnections = 0

  /// So many in a row are needed.
  static let silencesMax = 3
  static let answersMin = 2

  /// Whether it matters that a connection was made.
  var isDoubted: Bool { isUnreachable || lateConnections > 0 }

  var standing: Standing {
    if isUnreachable { return .unreachable }
    if isSilent { return .silent }
    return isReady ? .ready : .unready
  }

  mutating func note(_ event: Event) {
    switch event {
    case .answered(let isReady, let isLate): answered(isReady, isLate)
    case .silent:
      isSlow = true
      answers = 0
      silences += 1
      if silences >= Self.silencesMax { isSilent = true }
    case .unreachable:
      answers = 0
      isUnreachable = true
    case .lateConnection:
      lateConnections += 1
      guard lateConnections >= Self.silencesMax else { return }
      answers = 0
      isSilent = true
    case .connected:
      // A process that hangs still has connections made by the kernel, so this is no answer.
      isUnreachable = false
      lateConnections = 0
    }
  }

  private mutating func answered(_ isReady: Bool, _ isLate: Bool) {
    hasAnswered = true
    if isReady { hasBeenReady = true }
    isSlow = isLate
    self.isReady = isReady
    isUnreachable = false
    silences = 0
    lateConnections = 0
    answers = min(answers + 1, Self.answersMin)
    if answers == Self.answersMin { isSilent = false }
  }
}

extension EndpointHealth.Event {
  /// What a failed attempt to connect says of the other side; nil: nothing, as the fault is on this one.
  init?(connecting error: any Error) {
    switch error {
    case let error as IOError where Self.ownFaults.contains(error.errnoCode): return nil
    case let error as IOError where error.errnoCode == ETIMEDOUT: self = .lateConnection
    case ChannelError.connectTimeout: self = .lateConnection
    case let error as NIOConnectionError where error.connectionErrors.isEmpty: self = .lateConnection
    case let error as NIOConnectionError:
      let events = error.connectionErrors.map { EndpointHealth.Event(connecting: $0.error) }
      guard let worst = events.contains(.lateConnection) ? .lateConnection : events.compactMap(\.self).first else {
        return nil
      }
      self = worst
    case let error as HTTPClientError where Self.timeouts.contains(error): self = .silent
    default: self = .unreachable
    }
  }

  /// No more files, ports or memory here.
  private static let ownFaults: Set = [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL]

  private static let timeouts: [HTTPClientError] = [
    .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout,
    .getConnectionFromPoolTimeout,
  ]
}
