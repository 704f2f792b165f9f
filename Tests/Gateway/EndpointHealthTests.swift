import AsyncHTTPClient
import NIOCore
import NIOPosix
import Support
import Testing

@testable import Gateway

/// When an address is excluded, and when it is included again.
@Suite struct EndpointHealthTests {
  private typealias Event = EndpointHealth.Event
  private static let onTime = Event.answered(isReady: true, isLate: false)
  private static let late = Event.answered(isReady: true, isLate: true)

  private func status(after events: [Event]) -> EndpointHealth.Status {
    var health = EndpointHealth()
    for event in events { health.record(event) }
    return health.status
  }

  @Test func slowIsNotDown() {
    var health = EndpointHealth()
    for _ in 0..<100 { health.record(Self.late) }
    #expect(health.status == .ready && health.isSlow)
    health.record(Self.onTime)
    #expect(!health.isSlow)
  }

  @Test func silenceCountsOnlySeveralTimesInARow() {
    #expect(status(after: [.probeTimeout, .probeTimeout]) == .ready)
    #expect(status(after: [.probeTimeout, .probeTimeout, Self.late, .probeTimeout, .probeTimeout]) == .ready)
    #expect(status(after: [.probeTimeout, .probeTimeout, .probeTimeout]) == .silent)
  }

  @Test func whoWasSilentComesBackAfterSeveralAnswers() {
    let out = [Event](repeating: .probeTimeout, count: 3)
    #expect(status(after: out + [Self.onTime]) == .silent)
    #expect(status(after: out + [Self.onTime, .probeTimeout, Self.onTime]) == .silent)
    #expect(status(after: out + [Self.late, Self.onTime]) == .ready)
    // The kernel accepts connections also for a process that hangs.
    #expect(status(after: out + [.connected, .connected, .connected]) == .silent)
  }

  @Test func whereNobodyListensIsKnownAtOnce() {
    #expect(status(after: [Self.onTime, Self.onTime, .unreachable]) == .unreachable)
    #expect(status(after: [.unreachable, .connected]) == .ready)
    #expect(status(after: [.unreachable, Self.onTime]) == .ready)
    #expect(status(after: [.unreachable, .answered(isReady: false, isLate: false)]) == .unready)
  }

  @Test func onePacketThatIsLostIsNoReason() {
    #expect(status(after: [.connectTimeout, .connectTimeout, .connected, .connectTimeout]) == .ready)
    #expect(status(after: [.connectTimeout, .connectTimeout, .connectTimeout]) == .silent)
  }

  @Test func whoSaysThatItIsNotReadyIsTakenAtItsWord() {
    let unready = Event.answered(isReady: false, isLate: false)
    #expect(status(after: [Self.onTime, unready]) == .unready)
    #expect(status(after: [unready, Self.onTime]) == .ready)
  }

  @Test func whatGoesWrongHereIsNobodyElsesFault() {
    let refused = IOError(errnoCode: ECONNREFUSED, reason: "connect")
    #expect(Event(connecting: refused) == .unreachable)
    #expect(Event(connecting: IOError(errnoCode: EMFILE, reason: "socket")) == nil)
    #expect(Event(connecting: IOError(errnoCode: EADDRNOTAVAIL, reason: "connect")) == nil)
    #expect(Event(connecting: ChannelError.connectTimeout(.seconds(1))) == .connectTimeout)
    #expect(Event(connecting: HTTPClientError.deadlineExceeded) == .probeTimeout)
  }
}
