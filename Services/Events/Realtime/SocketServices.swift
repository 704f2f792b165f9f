import Foundation
import Wire

/// What every socket of a process works with. A class, as each of thousands refers to it.
final class SocketServices: Sendable {
  let store: LogStore
  let rights: TopicRights
  let verifier: CredentialVerifier
  let limits: ConnectionLimits
  let metrics: EventMetrics
  let hub: RealtimeHub
  let conversations: Conversations
  /// Bounds how many sockets read the log at the same time: after a restart all of them come back at once.
  let reads = ConcurrencyLimit(8)
  let settings: SocketSettings

  init(
    store: LogStore, rights: TopicRights, verifier: CredentialVerifier, limits: ConnectionLimits,
    metrics: EventMetrics, hub: RealtimeHub, conversations: Conversations, settings: SocketSettings
  ) {
    self.store = store
    self.rights = rights
    self.verifier = verifier
    self.limits = limits
    self.metrics = metrics
    self.hub = hub
    self.conversations = conversations
    self.settings = settings
  }
}
