import Foundation

/// One subscription, over as many connections as it takes.
struct EventSubscription: Sendable {
  typealias Update = (update: LiveUpdate, position: EventPosition)
  /// Throws ``ReaderIsBehind``.
  typealias Tell = (LiveUpdate, EventPosition) throws -> Void

  let api: API
  let topics: [String]
  let position: EventPosition
  /// The app is in the foreground again, or the network has changed.
  let wakeups: LiveWakeups

  /// A reader who is behind is waited for without a connection, which then goes on after the last update that was told.
  func run(telling updates: BoundedBuffer<Update>) async throws {
    let wake = WakeSignal()
    var told = position
    let tell: Tell = { update, position in
      guard updates.offer((update, position)) else { throw ReaderIsBehind() }
      told = position
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask { for await _ in wakeups.signals() { wake.send() } }
      var progress = SubscriptionProgress(position: position, usesSocket: api.live.sockets != nil)
      while true {
        do {
          try await connect(&progress, wake, tell)
        } catch let end as SubscriptionEnd {
          return try await updates.send((.ended(reason: end.reason), progress.position))
        } catch is WebSocketsUnavailable {
          progress.usesSocket = false
          continue
        } catch is ReaderIsBehind {
          progress.position = told
          try await updates.drained()
        } catch KithFailure.unreachable {} catch is NoAnswer {} catch let KithFailure.refused(refusal)
          where refusal.status == 429 || refusal.status >= 500
        {}
        try Task.checkCancellation()
        try await updates.send((.disconnected, progress.position))
        progress.lost(hasSockets: api.live.sockets != nil)
        try await pause(progress.failures, wake)
      }
    }
  }

  private func connect(
    _ progress: inout SubscriptionProgress, _ wake: WakeSignal, _ tell: Tell
  ) async throws {
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

/// More has happened than fits between the connection and the reader.
struct ReaderIsBehind: Error, Sendable, Equatable {}

/// The right to read a topic has ended.
struct SubscriptionEnd: Error, Sendable, Equatable {
  let reason: String
}
