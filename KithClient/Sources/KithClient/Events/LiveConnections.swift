import Foundation

/// How live channels are connected, and how often a WebSocket is looked after.
struct LiveConnections: Sendable {
  /// nil: server-sent events.
  var sockets: (any WebSocketTransport)?
  /// Between two heartbeats. An access token is renewed before 30 seconds are left, so in time.
  var heartbeat = Duration.seconds(25)
  /// How long the answer to a heartbeat may take after the network has changed.
  var probe = Duration.seconds(5)
  /// Apart from ``RetryPolicy/sleep``, as tests speed up the one and not the other.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
}

/// When a subscription looks at its connection at once, or makes a new one, rather than after its wait.
public struct LiveWakeups: Sendable {
  let signals: @Sendable () -> AsyncStream<Void>

  /// - Parameter signals: makes a stream that has an element whenever the network may be back. It is called once for
  ///   each subscription.
  public init(_ signals: @escaping @Sendable () -> AsyncStream<Void>) { self.signals = signals }

  /// Never.
  public static let never = LiveWakeups { AsyncStream { $0.finish() } }
}

/// Passes signals on to the one who waits at the moment. What nobody waits for is dropped.
///
/// `@unchecked Sendable`: `waiting` is only used under the lock.
final class WakeSignal: @unchecked Sendable {
  private let lock = NSLock()
  private var waiting: AsyncStream<Void>.Continuation?

  func send() { _ = lock.withLock { waiting }?.yield() }

  /// The signals from now on, until the next call.
  func signals() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    lock.withLock { waiting = continuation }
    return stream
  }
}
