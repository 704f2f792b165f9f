import Foundation
import Synchronization
import Wire

/// Broadcasts and presence of all channels, here and on other replicas.
final class Conversations: Sendable {
  private let presences: PresenceStore
  private let replicas: ReplicaStore
  private let lease: ReplicaLease
  private let relay: ConversationRelay
  private let hub: RealtimeHub
  private let now: @Sendable () -> Date
  /// References of clients that have gone, which could not be removed yet.
  private let departed = Mutex<[PresenceStore.Entry]>([])

  init(
    presences: PresenceStore, replicas: ReplicaStore, lease: ReplicaLease, relay: ConversationRelay, hub: RealtimeHub,
    now: @escaping @Sendable () -> Date
  ) {
    self.presences = presences
    self.replicas = replicas
    self.lease = lease
    self.relay = relay
    self.hub = hub
    self.now = now
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
    try await lease.require()
    let isAdded = try await presences.add(entry, insteadOf: old?.ref, by: lease.replica)
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

  /// Removes who has gone: here, and with replicas that have ended.
  func maintain() async throws {
    for entry in departed.withLock({ departed in
      defer { departed = [] }
      return departed
    }) { await untrack(entry) }
    let expired = try await replicas.removeExpired(at: now())
    for (topic, entries) in Dictionary(grouping: expired, by: \.topic) {
      publish(ConversationMessage(topic: topic, .presence(PresenceStore.Entry.diff(joins: [], leaves: entries))))
    }
  }
}
