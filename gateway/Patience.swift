import NIOCore

/// How long the gateway waits for clients, and for Redis. Every time is for the whole of a thing, not for its next byte: a byte a second
/// would keep a connection for ever.
package struct Patience: Sendable {
  /// For a request's head, from its first byte, and for a connection's first byte.
  var head: TimeAmount
  /// Between two requests.
  var idle: TimeAmount
  /// For a client to make room for more of an answer.
  var stall: TimeAmount
  /// For a client to close after the last answer.
  var linger: TimeAmount
  /// For Redis to answer; after it, this gateway counts alone.
  var redis: TimeAmount

  package init(
    head: TimeAmount = .seconds(10), idle: TimeAmount = .seconds(75), stall: TimeAmount = .seconds(60),
    linger: TimeAmount = .seconds(2), redis: TimeAmount = .milliseconds(50)
  ) {
    self.head = head
    self.idle = idle
    self.stall = stall
    self.linger = linger
    self.redis = redis
  }
}
