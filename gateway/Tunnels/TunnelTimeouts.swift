import NIOCore

/// How long the ends of a WebSocket may be silent, and how long its end takes.
package struct TunnelTimeouts: Sendable {
  /// The service pings every 25 seconds, so a client that is there is heard from that often.
  var clientSilence: TimeAmount
  /// For the service, which pings.
  var serviceSilence: TimeAmount
  /// For one side to end the connection after the other has.
  var closing: TimeAmount
  /// In which the WebSockets of a gateway that stops are closed, one after the other, so that not all clients
  /// reconnect in the same moment.
  var drain: TimeAmount

  package init(
    clientSilence: TimeAmount = .seconds(75), serviceSilence: TimeAmount = .seconds(60),
    closing: TimeAmount = .seconds(5), drain: TimeAmount = .seconds(10)
  ) {
    self.clientSilence = clientSilence
    self.serviceSilence = serviceSilence
    self.closing = closing
    self.drain = drain
  }
}
