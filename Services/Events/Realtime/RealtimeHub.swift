import Foundation
import NIOCore
import Synchronization
import Wire

/// The sockets of this process, spread over its event loops.
final class RealtimeHub: LogObserver {
  private struct Loop: Sendable {
    let loop: any EventLoop
    let hub: NIOLoopBound<LoopHub>
  }

  private let loops = Mutex<[ObjectIdentifier: Loop]>([:])
  private let metrics: EventMetrics
  private let now: @Sendable () -> Date
  /// Between two checks of sessions and of silent sockets.
  static let sweepInterval = TimeAmount.milliseconds(500)

  private let live: LiveTopics

  init(metrics: EventMetrics, live: LiveTopics, now: @escaping @Sendable () -> Date) {
    self.metrics = metrics
    self.live = live
    self.now = now
  }

  /// The hub of an event loop, on which this must be called.
  func hub(of loop: any EventLoop) -> LoopHub {
    loop.preconditionInEventLoop()
    let known = loops.withLock { $0[ObjectIdentifier(loop)] }
    if let known { return known.hub.value }
    let bound = NIOLoopBound(LoopHub(live: live), eventLoop: loop)
    loops.withLock { $0[ObjectIdentifier(loop)] = Loop(loop: loop, hub: bound) }
    loop.scheduleRepeatedTask(initialDelay: Self.sweepInterval, delay: Self.sweepInterval) { [weak self] task in
      guard let self else { return task.cancel() }
      bound.value.sweep(at: .now(), date: now())
    }
    return bound.value
  }

  func appended(_ events: [AppendedEvent]) {
    let (runs, now) = (FeedRun.runs(of: events), now())
    for event in events { metrics.delivered(event.event, at: now) }
    onEachLoop { hub in hub.deliver(runs) }
  }

  func logWasReplaced() { onEachLoop { $0.readAgain() } }

  func deliver(_ message: ConversationMessage) { onEachLoop { $0.deliver(message) } }

  private func onEachLoop(_ body: @escaping @Sendable (LoopHub) -> Void) {
    for loop in loops.withLock({ Array($0.values) }) { loop.loop.execute { body(loop.hub.value) } }
  }
}
