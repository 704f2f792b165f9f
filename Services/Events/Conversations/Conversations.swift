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
  private struct State {
    /// Who is present on this replica, by reference.
    var present: [String: PresenceStore.Entry] = [:]
    /// Clients that have gone, which could not be removed yet.
    var departed: [PresenceStore.Entry] = []
    /// The database may lack some who are present.
    var isIncomplete = false
  }

  private let state = Mutex(State())
  private static let batchSize = 256

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
    state.withLock { state in
      if let old { state.present[old.ref] = nil }
      if isAdded { state.present[entry.ref] = entry }
    }
    let diff = PresenceStore.Entry.diff(joins: isAdded ? [entry] : [], leaves: old.map { [$0] } ?? [])
    publish(ConversationMessage(topic: entry.topic, .presence(diff)))
    return isAdded
  }

  func untrack(_ entry: PresenceStore.Entry) async {
    state.withLock { $0.present[entry.ref] = nil }
    do {
      try await presences.remove(entry.ref)
      publish(
        ConversationMessage(topic: entry.topic, .presence(PresenceStore.Entry.diff(joins: [], leaves: [entry]))))
    } catch {
      state.withLock { $0.departed.append(entry) }
    }
  }

  /// Removes who has gone: here, and with replicas that have ended. Adds again whom other replicas have removed.
  ///
  /// - Parameter hasLapsed: there was a time without a lease, in which others may have removed who is present here.
  func maintain(hasLapsed: Bool) async throws {
    if hasLapsed { state.withLock { $0.isIncomplete = true } }
    for entry in state.withLock({ state in
      defer { state.departed = [] }
      return state.departed
    }) { await untrack(entry) }
    try await restore()
    let expired = try await replicas.removeExpired(at: now())
    for (topic, entries) in Dictionary(grouping: expired, by: \.topic) {
      publish(ConversationMessage(topic: topic, .presence(PresenceStore.Entry.diff(joins: [], leaves: entries))))
    }
  }

  private func restore() async throws {
    let present = state.withLock { $0.isIncomplete ? Array($0.present.values) : [] }
    for start in stride(from: 0, to: present.count, by: Self.batchSize) {
      let batch = present[start...].prefix(Self.batchSize)
      let added = try await presences.restore(batch, by: lease.replica)
      for (topic, entries) in Dictionary(grouping: added, by: \.topic) {
        publish(ConversationMessage(topic: topic, .presence(PresenceStore.Entry.diff(joins: entries, leaves: []))))
      }
      // Some may have gone, and been removed, before they were added again.
      let gone = state.withLock { state in added.filter { state.present[$0.ref] == nil } }
      for entry in gone { await untrack(entry) }
    }
    state.withLock { $0.isIncomplete = false }
  }
}
