import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix

/// The health of one address of a service, and whether it is excluded from requests.
///
/// One refused connection is enough to exclude an address, because nothing listens there. One timeout is not: a busy
/// machine is slow, and excluding it would overload the others. So an address is excluded after several timeouts in a
/// row, and included again after several answers.
struct EndpointHealth: Sendable {
  /// The names of the cases are logged.
  enum Status: Int, Sendable {
    case ready
    /// It answers that it is not ready for requests: it is stopping, or its database is unavailable.
    case unready
    /// Excluded: it does not answer probes in time, or connections take too long.
    case silent
    /// Excluded: connections are refused or break.
    case unreachable

    var isExcluded: Bool { self == .silent || self == .unreachable }

    /// The order in which endpoints are chosen, lowest first. In a panic silent endpoints rank like ready ones;
    /// unreachable endpoints always come last.
    func rank(inPanic isPanic: Bool) -> Int { isPanic && self == .silent ? Self.ready.rawValue : rawValue }
  }

  enum Event: Sendable, Equatable {
    /// An answer to a probe.
    case answered(isReady: Bool, isLate: Bool)
    /// A probe was not answered in time.
    case probeTimeout
    /// A connection was refused or broke.
    case unreachable
    /// A connection was not made in time, for example because a packet was lost or the machine has failed.
    case connectTimeout
    case connected
  }

  private(set) var hasAnswered = false
  private(set) var hasBeenReady = false
  private(set) var isSlow = false
  private var isReady = true
  private var isUnresponsive = false
  private var isUnreachable = false
  private var probeTimeouts = 0
  private var answers = 0
  private var connectTimeouts = 0

  /// Consecutive timeouts that exclude an address, and answers that include it again.
  static let timeoutsMax = 3
  static let answersMin = 2

  /// Whether a ``Event/connected`` would change anything.
  var hasFailedConnects: Bool { isUnreachable || connectTimeouts > 0 }

  var status: Status {
    if isUnreachable { return .unreachable }
    if isUnresponsive { return .silent }
    return isReady ? .ready : .unready
  }

  mutating func record(_ event: Event) {
    switch event {
    case .answered(let isReady, let isLate): answered(isReady, isLate)
    case .probeTimeout:
      isSlow = true
      answers = 0
      probeTimeouts += 1
      if probeTimeouts >= Self.timeoutsMax { isUnresponsive = true }
    case .unreachable:
      answers = 0
      isUnreachable = true
    case .connectTimeout:
      connectTimeouts += 1
      guard connectTimeouts >= Self.timeoutsMax else { return }
      answers = 0
      isUnresponsive = true
    case .connected:
      // Does not count as an answer: the kernel accepts connections even for a process that hangs.
      isUnreachable = false
      connectTimeouts = 0
    }
  }

  private mutating func answered(_ isReady: Bool, _ isLate: Bool) {
    hasAnswered = true
    if isReady { hasBeenReady = true }
    isSlow = isLate
    self.isReady = isReady
    isUnreachable = false
    probeTimeouts = 0
    connectTimeouts = 0
    answers = min(answers + 1, Self.answersMin)
    if answers == Self.answersMin { isUnresponsive = false }
  }
}

extension EndpointHealth.Event {
  /// The event for a failed connection or probe; nil when the error is local to this process.
  init?(connecting error: any Error) {
    switch error {
    case let error as IOError where Self.localErrors.contains(error.errnoCode): return nil
    case let error as IOError where error.errnoCode == ETIMEDOUT: self = .connectTimeout
    // Of a Unix socket, whose accept queue is full; over TCP the connection would wait.
    case let error as IOError where error.errnoCode == EAGAIN: self = .connectTimeout
    case ChannelError.connectTimeout: self = .connectTimeout
    case let error as NIOConnectionError where error.connectionErrors.isEmpty: self = .connectTimeout
    case let error as NIOConnectionError:
      let events = error.connectionErrors.map { EndpointHealth.Event(connecting: $0.error) }
      guard let worst = events.contains(.connectTimeout) ? .connectTimeout : events.compactMap(\.self).first else {
        return nil
      }
      self = worst
    case let error as HTTPClientError where Self.timeouts.contains(error): self = .probeTimeout
    default: self = .unreachable
    }
  }

  /// This process or machine is out of files, ports or memory.
  private static let localErrors: Set = [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL]

  private static let timeouts: [HTTPClientError] = [
    .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout,
    .getConnectionFromPoolTimeout,
  ]
}
