import NIOCore

/// How long the gateway waits for clients and for Redis. Each timeout bounds a whole operation, not the time until the
/// next byte: a client that sends one byte a second would otherwise keep its connection forever.
package struct Timeouts: Sendable {
  /// For receiving a request head, from its first byte, and for receiving the first byte of a connection.
  var head: TimeAmount
  /// Between two requests.
  var idle: TimeAmount
  /// For the client to read enough of a response that more can be written.
  var write: TimeAmount
  /// For the client to close its side after the last response.
  var linger: TimeAmount
  /// For the rest of a body that was refused while the client sent it. A pause as long as `linger` ends it, too.
  var refusedBody: TimeAmount
  /// For a reply of Redis; after it, this gateway counts by itself.
  var redis: TimeAmount
  var tunnel: TunnelTimeouts

  package init(
    head: TimeAmount = .seconds(10), idle: TimeAmount = .seconds(75), write: TimeAmount = .seconds(60),
    linger: TimeAmount = .seconds(2), refusedBody: TimeAmount = .seconds(30), redis: TimeAmount = .milliseconds(50),
    tunnel: TunnelTimeouts = TunnelTimeouts()
  ) {
    self.head = head
    self.idle = idle
    self.write = write
    self.linger = linger
    self.refusedBody = refusedBody
    self.redis = redis
    self.tunnel = tunnel
  }
}
