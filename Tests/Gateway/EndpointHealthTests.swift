import AsyncHTTPClient
import NIOCore
import NIOPosix
import Support
import Testing

@testable import Gateway

/// When an address is left out, and when it comes back.
@Suite struct EndpointHealthTests {
  private typealias Event = EndpointHealth.Event
  private static let prompt = Event.answered(isReady: true, isLate: false)
  private static let late = Event.answered(isReady: true, isLate: true)

  private func standing(after events: [Event]) -> EndpointHealth.Standing {
    var health = EndpointHealth()
    for event in events { health.note(event) }
    return health.standing
  }

  @Test func slowIsNotDown() {
    var health = EndpointHealth()
    for _ in 0..<100 { health.note(Self.late) }
    #expect(health.standing == .ready && health.isSlow)
    health.note(Self.prompt)
    #expect(!health.isSlow)
  }

  @Test func silenceCountsOnlySeveralTimesInARow() {
    #expect(standing(after: [.silent, .silent]) == .ready)
    #expect(standing(after: [.silent, .silent, Self.late, .silent, .silent]) == .ready)
    #expect(standing(after: [.silent, .silent, .silent]) == .silent)
  }

  @Test func whoWasSilentComesBackAfterSeveralAnswers() {
    let out = [Event](repeating: .silent, count: 3)
    #expect(standing(after: out + [Self.prompt]) == .silent)
    #expect(standing(after: out + [Self.prompt, .silent, Self.prompt]) == .silent)
    #expect(standing(after: out + [Self.late, Self.prompt]) == .ready)
    // The kernel makes connections also for a process that hangs.
    #expect(standing(after: out + [.connected, .connected, .connected]) == .silent)
  }

  @Test func whereNobodyListensIsKnownAtOnce() {
    #expect(standing(after: [Self.prompt, Self.prompt, .unreachable]) == .unreachable)
    #expect(standing(after: [.unreachable, .connected]) == .ready)
    #expect(standing(after: [.unreachable, Self.prompt]) == .ready)
    #expect(standing(after: [.unreachable, .answered(isReady: false, isLate: false)]) == .unready)
  }

  @Test func onePacketThatIsLostIsNoReason() {
    #expect(standing(after: [.lateConnection, .lateConnection, .connected, .lateConnection]) == .ready)
    #expect(standing(after: [.lateConnection, .lateConnection, .lateConnection]) == .silent)
  }

  @Test func whoSaysThatItIsNotReadyIsTakenAtItsWord() {
    let unready = Event.answered(isReady: false, isLate: false)
    #expect(standing(after: [Self.prompt, unready]) == .unready)
    #expect(standing(after: [unready, Self.prompt]) == .ready)
  }

  @Test func whatGoesWrongHereIsNobodyElsesFault() {
    let refused = IOError(errnoCode: ECONNREFUSED, reason: "connect")
    #expect(Event(connecting: refused) == .unreachable)
    #expect(Event(connecting: IOError(errnoCode: EMFILE, reason: "socket")) == nil)
    #expect(Event(connecting: IOError(errnoCode: EADDRNOTAVAIL, reason: "connect")) == nil)
    #expect(Event(connecting: ChannelError.connectTimeout(.seconds(1))) == .lateConnection)
    #expect(Event(connecting: HTTPClientError.deadlineExceeded) == .silent)
  }
}
