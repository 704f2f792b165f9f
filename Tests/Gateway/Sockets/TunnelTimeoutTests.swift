import Testing

@testable import Gateway

/// How long WebSockets may be silent where nothing is configured.
@Suite struct TunnelTimeoutTests {
  @Test func aPingMayBeLateAndTheDrainIsThatOfTheService() {
    let timeouts = TunnelTimeouts()
    #expect(timeouts.clientSilence == .seconds(75) && timeouts.serviceSilence == .seconds(60))
    #expect(timeouts.closing == .seconds(5) && timeouts.drain == .seconds(10))
    // The service pings every 25 seconds: one may be lost on either side.
    #expect(timeouts.clientSilence > .seconds(2 * 25) && timeouts.serviceSilence > .seconds(2 * 25))
  }
}
