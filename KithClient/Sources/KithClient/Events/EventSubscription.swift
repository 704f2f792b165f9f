import Foundation

/// One subscription, over as many connections as it takes.
struct EventSubscription: Sendable {
  typealias Tell = @Sendable (LiveUpdate, EventPosition) -> Void

  let api: API
  let topics: [String]
  let position: EventPosition
  /// The app is in the foreground again, or the network has changed.
  let wakeups: LiveWakeups

  func run(_ tell: Tell) async throws {
    let wake = WakeSignal()
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask { for await _ in wakeups.signals() { wake.send() } }
      var progress = SubscriptionProgress(position: position, usesSocket: api.live.sockets != nil)
      while true {
        do {
          try await connect(&progress, wake, tell)
        } catch let end as SubscriptionEnd {
          return tell(.ended(reason: end.reason), progress.position)
        } catch is WebSocketsUnavailable {
          progress.usesSocket = false
          continue
        } catch KithFailure.unreachable {} catch is NoAnswer {} catch let KithFailure.refused(refusal)
          where refusal.status == 429 || refusal.status >= 500
        {}
        try Task.checkCancellation()
        tell(.disconnected, progress.position)
        progress.lost(hasSockets: api.live.sockets != nil)
        try await pause(progress.failures, wake)
      }
    }
  }

  private func connect(_ progress: inout SubscriptionProgress, _ wake: WakeSignal, _ tell: Tell) async throws {
    if progress.usesSocket, let transport = api.live.sockets {
      try await SocketConnection(api: api, transport: transport, topics: topics)
        .run(&progress, waking: wake.signals(), tell)
    } else {
      try await StreamConnection(api: api, topics: topics).run(&progress, waking: wake.signals(), tell)
    }
  }

  /// Waits as the policy says, or until the app wakes up.
  private func pause(_ failures: Int, _ wake: WakeSignal) async throws {
    let policy = api.exchanger.policy
    let (wait, signals) = (policy.backoff(failures), wake.signals())
    try await withThrowingTaskGroup(of: Bool.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        try await policy.sleep(wait)
        return true
      }
      group.addTask {
        for await _ in signals { return true }
        return false
      }
      while try await group.next() == false {}
    }
  }
}

/// What a subscription has to know from one connection to the next.
struct SubscriptionProgress: Sendable {
  var position: EventPosition
  var usesSocket: Bool
  /// Since the last connection that was there.
  private(set) var failures = 0
  private(set) var isConnected = false
  /// A token that must not be sent again.
  var refused: Bearer?

  init(position: EventPosition, usesSocket: Bool) {
    self.position = position
    self.usesSocket = usesSocket
  }

  mutating func connected() {
    isConnected = true
    failures = 0
  }

  /// What does not let WebSockets through often lets them hang: the other way is tried, in turn.
  mutating func lost(hasSockets: Bool) {
    failures += 1
    if !isConnected, hasSockets, failures % 2 == 0 { usesSocket.toggle() }
    isConnected = false
  }
}

/// The right to read a topic has ended.
struct SubscriptionEnd: Error, Sendable, Equatable {
  let reason: String
}
