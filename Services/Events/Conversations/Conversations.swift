import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Web
import Wire

/// Broadcasts and presence of all channels, here and on other replicas.
final class Conversations: Sendable {
  private let presences: PresenceStore
  private let relay: ConversationRelay
  private let hub: RealtimeHub
  private let logger: Logger
  private let now: @Sendable () -> Date
  /// Names this process in leases and in what it relays.
  let replica: String
  /// References of clients that have gone, which could not be removed yet.
  private let departed = Mutex<[PresenceStore.Entry]>([])
  private let hasLease = Mutex(false)

  init(
    presences: PresenceStore, relay: ConversationRelay, hub: RealtimeHub, logger: Logger,
    now: @escaping @Sendable () -> Date
  ) {
    self.presences = presences
    self.relay = relay
    self.hub = hub
    self.logger = logger
    self.now = now
    replica = relay.replica
  }

  /// Delivers a message to the channels of its topic on every replica.
  func publish(_ message: ConversationMessage) {
    hub.deliver(message)
    relay.send(message)
  }

  // MARK: Presence

  /// The payload of `presence_state`.
  func presenceState(of topic: String) async throws -> String {
    PresenceStore.Entry.state(try await presences.entries(of: topic, at: now()))
  }

  /// - Returns: false when as many are present as can be listed; then `old` has left.
  func track(_ entry: PresenceStore.Entry, insteadOf old: PresenceStore.Entry?) async throws -> Bool {
    try await requireLease()
    let isAdded = try await presences.add(entry, insteadOf: old?.ref, by: replica)
    let diff = PresenceStore.Entry.diff(joins: isAdded ? [entry] : [], leaves: old.map { [$0] } ?? [])
    publish(ConversationMessage(topic: entry.topic, .presence(diff)))
    return isAdded
  }

  func untrack(_ entry: PresenceStore.Entry) async {
    do {
      try await presences.remove(entry.ref)
      publish(
        ConversationMessage(topic: entry.topic, .presence(PresenceStore.Entry.diff(joins: [], leaves: [entry]))))
    } catch {
      departed.withLock { $0.append(entry) }
    }
  }

  private func requireLease() async throws {
    if hasLease.withLock({ $0 }) { return }
    try await presences.extendLease(of: replica, at: now())
    hasLease.withLock { $0 = true }
  }

  /// Extends the lease, and removes who has gone: here, and with replicas that have ended.
  fileprivate func maintain() async {
    do {
      if hasLease.withLock({ $0 }) { try await presences.extendLease(of: replica, at: now()) }
      for entry in departed.withLock({ departed in
        defer { departed = [] }
        return departed
      }) { await untrack(entry) }
      let expired = try await presences.removeExpired(at: now())
      for (topic, entries) in Dictionary(grouping: expired, by: \.topic) {
        publish(
          ConversationMessage(topic: topic, .presence(PresenceStore.Entry.diff(joins: [], leaves: entries))))
      }
    } catch {
      guard !Task.isCancelled else { return }
      logger.warning("presence was not maintained", metadata: ["error": "\(error)"])
    }
  }
}

/// Keeps the presence of this process alive, and ends that of others which are not: of the latter only sockets learn.
struct PresenceMaintenance: Service {
  let conversations: Conversations
  let isInUse: @Sendable () -> Bool
  var interval = Duration.seconds(5)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await repeatUntilCancelled(every: interval) { if isInUse() { await conversations.maintain() } }
    }
  }
}
